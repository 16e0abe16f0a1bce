import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport

@testable import TaskSchedulerDaemon

typealias Occurrence = DesktopNotifications.Occurrence

/// An event loop with the daemon's notifications. The loop runs while a test waits.
final class DesktopDriver {
  let loop: EventLoop
  private(set) var occurrences: [Occurrence] = []
  /// The notifications shown so far, in order.
  private(set) var shown: [UInt64] = []
  private(set) var notifications: DesktopNotifications?
  let user: UserID

  init(
    _ addresses: DesktopAddresses?, user: UInt32 = geteuid(), answerTime: Duration = .seconds(25)
  ) throws {
    loop = try EventLoop()
    self.user = UserID(user)
    notifications = try DesktopNotifications(
      loop: loop, addresses: addresses, answerTime: answerTime,
      log: Log(target: .stderr, level: .error)
    ) { [weak self] occurrence in
      self?.occurrences.append(occurrence)
      if case .shown(let id) = occurrence { self?.shown.append(id.number) }
    }
  }

  convenience init(_ bus: SessionBus, answerTime: Duration = .seconds(25)) throws {
    try self.init(.one(bus.address), answerTime: answerTime)
  }

  func notification(_ number: UInt64, _ title: String, body: String = "") throws
    -> DesktopNotification
  {
    let id = try unwrap(ApplicationID("org.example.mail"))
    return DesktopNotification(
      id: NotificationID(number), application: ApplicationKey(id, owner: user),
      applicationName: "Mail", title: title, body: body)
  }

  func show(_ number: UInt64, _ title: String, body: String = "") throws {
    notifications?.show(try notification(number, title, body: body))
  }

  func close(_ number: UInt64) {
    notifications?.close(NotificationID(number))
  }

  /// Runs the loop until the notifications report the occurrence.
  ///
  /// - Throws: ETIMEDOUT if the deadline passes first.
  func wait(for occurrence: Occurrence) throws {
    try wait { $0.contains(occurrence) }
  }

  func wait(until isDone: ([Occurrence]) -> Bool) throws {
    let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
    while !isDone(occurrences) {
      let now = BootClock.now()
      guard now < end else {
        throw SystemError(call: "waiting; so far \(occurrences.suffix(20))", errno: ETIMEDOUT)
      }
      try loop.turn(within: .nanoseconds(Int64(end - now)))
    }
  }

  /// Runs the loop until no event is ready.
  func waitUntilIdle() throws {
    let idle = try loop.whenIdle { self.isIdle = true }
    isIdle = false
    idle.request()
    while !isIdle { try loop.turn(within: deadline) }
  }
  private var isIdle = false

  /// Returns how often the occurrence has happened.
  func count(_ occurrence: Occurrence) -> Int {
    occurrences.count { $0 == occurrence }
  }
}

extension Occurrence {
  static func shown(_ number: UInt64) -> Occurrence { .shown(NotificationID(number)) }

  static func chosen(_ number: UInt64, token: String? = nil) -> Occurrence {
    .chosen(NotificationID(number), activationToken: token)
  }

  static func closed(
    _ number: UInt64, _ reason: DesktopNotifications.CloseReason
  ) -> Occurrence {
    .closed(NotificationID(number), reason)
  }
}

extension DesktopDriver {
  /// Returns the failures so far of the notification with the given number.
  func failures(_ number: UInt64) -> [DesktopNotifications.Failure] {
    occurrences.compactMap {
      if case .failed(NotificationID(number), let failure) = $0 { failure } else { nil }
    }
  }
}

import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport

@testable import TaskSchedulerDaemon

typealias Happening = DesktopNotifications.Happening

/// The daemon's loop with nothing on it but notifications, turned for as long as a test waits.
final class DesktopDriver {
  let loop: EventLoop
  private(set) var happenings: [Happening] = []
  /// What was shown so far, in order.
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
    ) { [weak self] happening in
      self?.happenings.append(happening)
      if case .shown(let id) = happening { self?.shown.append(id.number) }
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

  /// Turns the loop until this has happened.
  ///
  /// - Throws: ETIMEDOUT when the deadline passes first.
  func wait(for happening: Happening) throws {
    try wait { $0.contains(happening) }
  }

  func wait(until isDone: ([Happening]) -> Bool) throws {
    let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
    while !isDone(happenings) {
      let now = BootClock.now()
      guard now < end else {
        throw SystemError(call: "waiting; so far \(happenings.suffix(20))", errno: ETIMEDOUT)
      }
      try loop.turn(within: .nanoseconds(Int64(end - now)))
    }
  }

  /// Does all that is ready, and what follows from it.
  func settle() throws {
    let idle = try loop.whenIdle { self.isIdle = true }
    isIdle = false
    idle.request()
    while !isIdle { try loop.turn(within: deadline) }
  }
  private var isIdle = false

  /// How often this has happened.
  func count(_ happening: Happening) -> Int {
    happenings.count { $0 == happening }
  }
}

extension Happening {
  static func shown(_ number: UInt64) -> Happening { .shown(NotificationID(number)) }

  static func chosen(_ number: UInt64, token: String? = nil) -> Happening {
    .chosen(NotificationID(number), activationToken: token)
  }

  static func closed(
    _ number: UInt64, _ reason: DesktopNotifications.CloseReason
  ) -> Happening {
    .closed(NotificationID(number), reason)
  }
}

extension DesktopDriver {
  /// What has failed so far, without the words.
  func failures(_ number: UInt64) -> [DesktopNotifications.Failure] {
    happenings.compactMap {
      if case .failed(NotificationID(number), let failure) = $0 { failure } else { nil }
    }
  }
}

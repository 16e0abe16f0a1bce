import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport

@testable import TaskSchedulerSession

/// A desktop session on an event loop. The loop runs while a test waits.
final class DesktopDriver {
  /// A report of the session. A number identifies the notification that the report is about.
  enum Occurrence: Equatable {
    case shown(Int)
    case chosen(Int, action: String? = nil, token: String? = nil)
    case closed(Int)
    case failed(Int, DesktopFailure)
    case problem(DesktopFailure?)
  }

  let loop: EventLoop
  private(set) var occurrences: [Occurrence] = []
  /// The notifications shown so far, in order.
  private(set) var shown: [Int] = []
  /// The identities of the notifications shown so far.
  private(set) var names: [Int: SessionInterface.ShownNotification] = [:]
  private(set) var session: DesktopSession?
  private var firings = 0

  init(_ address: String, answerTime: Duration = .seconds(25)) throws {
    loop = try EventLoop()
    session = try DesktopSession(
      address: BusAddress(text: address), answerTime: answerTime, loop: loop
    ) { [weak self] in self?.hear($0) }
  }

  convenience init(_ bus: SessionBus, answerTime: Duration = .seconds(25)) throws {
    try self.init(bus.address, answerTime: answerTime)
  }

  private func hear(_ occurrence: DesktopOccurrence) {
    switch occurrence {
    case .shown(let key, let name):
      shown.append(key.id)
      names[key.id] = name
      occurrences.append(.shown(key.id))
    case .chosen(let key, let action, let token):
      occurrences.append(.chosen(key.id, action: action, token: token))
    case .closed(let key): occurrences.append(.closed(key.id))
    case .failed(let key, let failure): occurrences.append(.failed(key.id, failure))
    case .problem(let problem): occurrences.append(.problem(problem))
    }
  }

  /// Returns a new firing of a notification.
  func notification(_ number: Int, _ title: String, body: String = "") -> PresentedNotification {
    firings += 1
    return .sample(number, title, body: body, firedAt: firings)
  }

  func show(_ number: Int, _ title: String, body: String = "") {
    session?.show(notification(number, title, body: body))
  }

  /// Shows a notification that an earlier agent had shown.
  func adopt(_ number: Int, _ title: String, as name: SessionInterface.ShownNotification) {
    var notification = notification(number, title)
    notification.content.shown = name
    session?.show(notification)
  }

  func close(_ number: Int, shown name: SessionInterface.ShownNotification? = nil) {
    session?.close(NotificationKey(daemon: 0, id: number), shown: name)
  }

  /// Runs the loop until the session reports the occurrence.
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

  /// Returns how often the session has reported the occurrence.
  func count(_ occurrence: Occurrence) -> Int {
    occurrences.count { $0 == occurrence }
  }

  /// Returns the failures so far of the notification with the given number.
  func failures(_ number: Int) -> [DesktopFailure] {
    occurrences.compactMap {
      if case .failed(number, let failure) = $0 { failure } else { nil }
    }
  }
}

extension PresentedNotification {
  /// Returns a notification of an application with the name Mail.
  static func sample(
    _ number: Int, _ title: String, body: String = "", firedAt: Int = 1
  ) -> PresentedNotification {
    PresentedNotification(
      SessionInterface.Notification(
        id: number, firedAt: firedAt, application: "org.example.mail", applicationName: "Mail",
        title: title, body: body, urgency: .normal, actions: []), daemon: 0)
  }
}

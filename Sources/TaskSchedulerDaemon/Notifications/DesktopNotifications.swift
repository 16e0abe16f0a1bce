import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Shows notifications through the notification service of each user's desktop
/// (`org.freedesktop.Notifications`), and reports what happens to them.
///
/// A notification waits in memory until a service can show it.
final class DesktopNotifications {
  /// Something that happened to a notification or to a user's service.
  enum Occurrence: Equatable {
    /// The service shows the notification. Reported again if the notification is replaced.
    case shown(NotificationID)
    /// The user has activated the notification. The daemon may pass the token as
    /// XDG_ACTIVATION_TOKEN to the program that it starts for the notification. ``closed(_:_:)`` is
    /// reported separately.
    case chosen(NotificationID, activationToken: String?)
    /// The service no longer shows the notification.
    case closed(NotificationID, CloseReason)
    /// The service cannot show the notification. Reported again if the reason changes.
    case failed(NotificationID, Failure)
    /// The user's service accepts notifications.
    case available(UserID)
  }

  /// The reason why a service no longer shows a notification.
  enum CloseReason: Hashable {
    case expired, dismissed, closedByCall, undefined
    /// The service or the user's bus has exited, and has lost the notification. The daemon does not
    /// show the notification again.
    case serviceEnded
  }

  /// The reason why no service shows a notification.
  enum Failure: Hashable, CustomStringConvertible {
    /// The user has no session bus, or the bus refuses the connection.
    case noBus(String)
    case noService(String)
    /// The service did not reply in time. It may still show the notification.
    case noAnswer
    /// The service refuses the notification, or exits each time that it receives it. The daemon
    /// drops the notification.
    case refused(String)

    /// Whether the daemon keeps the notification, to show it as soon as possible.
    var isKept: Bool {
      switch self {
      case .noBus, .noService, .noAnswer: true
      case .refused: false
      }
    }

    /// Whether both failures are the same case. Their texts may differ.
    func isSameKind(as other: Failure) -> Bool {
      switch self {
      case .noBus: if case .noBus = other { true } else { false }
      case .noService: if case .noService = other { true } else { false }
      case .noAnswer: if case .noAnswer = other { true } else { false }
      case .refused: if case .refused = other { true } else { false }
      }
    }

    var description: String {
      switch self {
      case .noBus(let text): "no session bus: \(text)"
      case .noService(let text): "no notification service: \(text)"
      case .noAnswer: "the notification service does not answer"
      case .refused(let text): "the notification service refuses the notification: \(text)"
      }
    }
  }

  private let loop: EventLoop
  private let addresses: DesktopAddresses?
  private let answerTime: Duration
  private let log: Log
  private let report: (Occurrence) -> Void
  private var sessions: [UserID: DesktopSession] = [:]
  /// Notifications that failed because no session could be created.
  private var failed: [(NotificationID, Failure)] = []
  private var worker: DeferredSource?

  /// - Parameters:
  ///   - addresses: The addresses of the users' session buses; nil if there are none.
  ///   - answerTime: How long a service may take to reply before it counts as unresponsive. The
  ///     usual limit of D-Bus calls is 25 s.
  ///   - report: Called from the event loop, never from within ``show(_:)`` or ``close(_:)``.
  init(
    loop: EventLoop, addresses: DesktopAddresses?, answerTime: Duration = .seconds(25),
    log: Log, report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.addresses = addresses
    self.answerTime = answerTime
    self.log = log
    self.report = report
    worker = try loop.soon { [weak self] in self?.reportFailed() }
  }

  /// Shows a notification to the owner of its application as soon as possible. Replaces an earlier
  /// notification with the same id.
  func show(_ notification: DesktopNotification) {
    do throws(SystemError) {
      guard let session = try session(of: notification.application.owner) else {
        return fail(notification.id, "no Unix socket address of a session bus is known")
      }
      session.show(notification)
    } catch {
      fail(notification.id, "\(error)")
    }
  }

  /// Returns the session of a user, or nil if the address of the user's bus is not known.
  private func session(of user: UserID) throws(SystemError) -> DesktopSession? {
    if let session = sessions[user] { return session }
    guard let address = addresses?.address(of: user) else { return nil }
    let session = try DesktopSession(
      user: user, address: address, answerTime: answerTime, loop: loop, log: log, report: report)
    sessions[user] = session
    return session
  }

  private func fail(_ id: NotificationID, _ reason: String) {
    failed.append((id, .noBus(reason)))
    worker?.request()
  }

  /// Adopts a notification that an earlier daemon had shown under this name.
  ///
  /// If the same service still runs, the daemon shows the notification again in the same place,
  /// without a sound, because a service may report an activation only to the connection that last
  /// called Notify. Otherwise the notification counts as closed.
  func adopt(_ notification: DesktopNotification, as name: DesktopName) {
    guard let session = try? session(of: notification.application.owner) else { return }
    session.adopt(notification, as: name)
  }

  /// Returns the name under which a notification is shown; nil if it is not shown.
  func name(of id: NotificationID) -> DesktopName? {
    for session in sessions.values {
      if let name = session.name(of: id) { return name }
    }
    return nil
  }

  /// Withdraws a notification: closes it if it is shown, and does not show it if it still waits.
  func close(_ id: NotificationID) {
    for session in sessions.values { session.close(id) }
  }

  private func reportFailed() {
    let all = failed
    failed = []
    for (id, failure) in all { report(.failed(id, failure)) }
  }
}

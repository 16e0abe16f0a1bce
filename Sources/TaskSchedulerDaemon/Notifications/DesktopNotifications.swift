import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Shows notifications to users, through the notification service of each one's desktop
/// (`org.freedesktop.Notifications`), and tells what the users make of them.
///
/// What cannot be shown is kept here until it can, for as long as the daemon runs.
final class DesktopNotifications {
  /// What has become of a notification.
  enum Occurrence: Equatable {
    /// The service shows it; again, where it was shown anew.
    case shown(NotificationID)
    /// The user has chosen it. What is started for it may be given the token as
    /// XDG_ACTIVATION_TOKEN. That it is closed is told besides.
    case chosen(NotificationID, activationToken: String?)
    /// It is shown no longer.
    case closed(NotificationID, CloseReason)
    /// It cannot be shown, now or ever; may be told again when the reason changes.
    case failed(NotificationID, Failure)
    /// The user's service takes notifications.
    case available(UserID)
  }

  /// Why a notification is shown no longer.
  enum CloseReason: Hashable {
    case expired, dismissed, closedByCall, undefined
    /// The service or the user's bus has ended, and has forgotten it. It is not shown again.
    case serviceEnded
  }

  /// Why a notification is not shown.
  enum Failure: Hashable, CustomStringConvertible {
    /// The user has no session bus, or it does not let us in.
    case noBus(String)
    case noService(String)
    /// The service was asked and says nothing; it may show it yet.
    case noAnswer
    /// The service refuses it, or ends of it: it is given up.
    case refused(String)

    /// Whether it is kept, and shown when that becomes possible.
    var isKept: Bool {
      switch self {
      case .noBus, .noService, .noAnswer: true
      case .refused: false
      }
    }

    /// Whether it is the same but for the words.
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
      case .refused(let text): "the notification service refuses it: \(text)"
      }
    }
  }

  private let loop: EventLoop
  private let addresses: DesktopAddresses?
  private let answerTime: Duration
  private let log: Log
  private let report: (Occurrence) -> Void
  private var sessions: [UserID: DesktopSession] = [:]
  /// For what fails before there is a session.
  private var failed: [(NotificationID, Failure)] = []
  private var worker: DeferredSource?

  /// - Parameters:
  ///   - addresses: where the users' buses are; nil: nowhere.
  ///   - answerTime: a service that says nothing for so long is said to hang. 25 s is the usual
  ///     limit of D-Bus calls.
  ///   - report: called from the loop, never from within ``show(_:)`` or ``close(_:)``.
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

  /// Shows a notification to the user who owns its application, as soon as that is possible. One
  /// with the same id that waits or is shown is replaced.
  func show(_ notification: DesktopNotification) {
    do throws(SystemError) {
      guard let session = try session(of: notification.application.owner) else {
        return fail(notification.id, "none is known that is a Unix socket")
      }
      session.show(notification)
    } catch {
      fail(notification.id, "\(error)")
    }
  }

  /// nil where no bus of that user is known.
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

  /// Takes up a notification that an earlier daemon has had shown by this name. Where the same
  /// service is still there, it is shown in its own place, without a sound: services may tell of a
  /// choice only the connection that has last notified. Otherwise it counts as closed.
  func remember(_ notification: DesktopNotification, as name: DesktopName) {
    guard let session = try? session(of: notification.application.owner) else { return }
    session.remember(notification, as: name)
  }

  /// By what name a notification is shown; nil where it is not.
  func name(of id: NotificationID) -> DesktopName? {
    for session in sessions.values {
      if let name = session.name(of: id) { return name }
    }
    return nil
  }

  /// Takes a notification back: it is closed where it is shown, and shown no more where it waits.
  func close(_ id: NotificationID) {
    for session in sessions.values { session.close(id) }
  }

  private func reportFailed() {
    let all = failed
    failed = []
    for (id, failure) in all { report(.failed(id, failure)) }
  }
}

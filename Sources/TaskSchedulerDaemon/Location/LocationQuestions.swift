import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// Asks users whether applications may learn the location, and passes the answers to the scheduler
/// (contract.md#location-question).
///
/// A question is a notification with two actions. It stays open until the user chooses an action,
/// the settings decide, or an operator decides. If the user closes the notification without an
/// answer, the daemon shows the question again only when the user's agent next attaches.
///
/// The daemon does not store the questions, because the scheduler knows which questions are open.
/// After a restart, the daemon shows them again with the same ids.
final class LocationQuestions: DaemonNotices {
  /// The functions of other parts of the daemon that ``LocationQuestions`` calls.
  struct Environment {
    /// Returns the applications about which the daemon must ask a user, ordered by id.
    var questions: (UserID) -> [ApplicationKey]
    /// Returns the manifest of the application with this id, if any.
    var manifest: (ApplicationID) -> ApplicationManifest?
    var post: (LocationEvent) -> Void
  }

  /// The state of a question that the daemon has shown.
  private struct Shown {
    /// The time at which the notification last fired, in nanoseconds since 1970.
    var firedAt: Int
    /// The service that shows the notification, and the id that the service assigned; nil if no
    /// service is known to show the notification.
    var name: DesktopName?
    /// Whether an agent has attached since `name` was reported. The service may have ended in the
    /// meantime, for example because the user logged out.
    var isOld = false
  }

  private let agents: AgentNotifications
  private let environment: Environment
  private var shown: [ApplicationKey: Shown] = [:]

  init(_ agents: AgentNotifications, _ environment: Environment) {
    self.agents = agents
    self.environment = environment
  }

  /// Shows the question about an application.
  func show(_ key: ApplicationKey) { agents.show(order(key), to: key.owner) }

  /// Withdraws the question about an application after the decision.
  func hide(_ key: ApplicationKey) {
    let name = shown.removeValue(forKey: key)?.name
    agents.withdraw(
      NotificationID(question(key).id), shownAs: name, of: key.owner)
  }

  private func question(_ key: ApplicationKey) -> LocationQuestion {
    LocationQuestion(key, environment.manifest(key.id))
  }

  /// Returns the order that tells an agent to show a question. Records the question as shown, so
  /// that the daemon can handle the agent's reports about it.
  private func order(_ key: ApplicationKey) -> SessionInterface.Notification {
    let known = shown[key] ?? Shown(firedAt: Int(clamping: WallClock.nanoseconds))
    shown[key] = known
    let question = question(key)
    return SessionInterface.Notification(
      id: Int(clamping: question.id), firedAt: known.firedAt, application: key.id.name,
      applicationName: question.name, icon: "find-location", title: question.title,
      body: question.body,
      // Services show a notification of this urgency until the user closes it.
      urgency: .critical, actions: LocationQuestion.answers.map(\.action),
      shown: known.name.map { .init($0) })
  }

  /// Returns the application of a user's open question with this notification id; nil if there is
  /// no such question.
  private func application(_ id: Int, of user: UserID) -> ApplicationKey? {
    guard contains(id) else { return nil }
    return environment.questions(user).first { question($0).id == UInt64(id) }
  }

  // MARK: DaemonNotices

  func orders(for user: UserID) -> [SessionInterface.Notification] {
    environment.questions(user).map { key in
      shown[key]?.isOld = true
      return order(key)
    }
  }

  func contains(_ id: Int) -> Bool {
    guard let id = UInt64(exactly: id) else { return false }
    return id >= LocationQuestion.idBase && id < IncomingCall.idBase
  }

  func isShown(_ id: Int, as name: DesktopName, to user: UserID) {
    guard let key = application(id, of: user) else { return }
    shown[key]?.name = name
    shown[key]?.isOld = false
  }

  func isClosed(_ id: Int, of user: UserID) {
    guard let key = application(id, of: user), let last = shown[key] else { return }
    shown[key]?.name = nil
    // If the name is old, the notification disappeared because the service had ended. The user has
    // not closed the notification.
    if last.name != nil, last.isOld { showAgain(key) }
  }

  func choose(_ id: Int, action: String?, by user: UserID) {
    guard let key = application(id, of: user) else { return }
    if let answer = LocationQuestion.answers.first(where: { $0.action.id == action }) {
      return environment.post(.authorize(nil, key, answer.1))
    }
    // The user has chosen the notification itself, not an answer. The service has closed the
    // notification, but the question is still open.
    if action == nil { showAgain(key) }
  }

  private func showAgain(_ key: ApplicationKey) {
    guard let last = shown[key]?.firedAt else { return show(key) }
    // Each firing needs a new time, by which the agent recognizes it. The clock may have been set
    // back since the last firing.
    shown[key]?.firedAt = max(Int(clamping: WallClock.nanoseconds), last + 1)
    show(key)
  }
}

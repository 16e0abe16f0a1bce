import TaskSchedulerCore
import TaskSchedulerWire

/// The notifications that show the user which applications record in the background
/// (contract.md#audio-recording-notice).
///
/// The session agents show these notices like local notifications. The ids of the notices begin at
/// ``idBase``, so no notification in the store has the same id. The daemon does not store the
/// notices, because the scheduler knows which ones must be shown.
final class RecordingNotices {
  /// The lowest id of a notice. The id of a notice is the sum of this number and the instance's
  /// number.
  static let idBase: UInt64 = 1 << 62

  private let agents: AgentNotifications
  /// The notices that the agents must show. `name` is nil until an agent reports that a
  /// notification service shows the notice.
  private var shown: [InstanceID: (application: ApplicationKey, name: DesktopName?)] = [:]

  init(_ agents: AgentNotifications) {
    self.agents = agents
  }

  /// Returns the instance that the notice with this id is about; nil if the id belongs to another
  /// kind of notification.
  private static func instance(_ id: Int) -> InstanceID? {
    guard let number = UInt64(exactly: id), number >= idBase else { return nil }
    return InstanceID(number - idBase)
  }

  func show(_ notice: RecordingNotice, name: String?) {
    agents.show(order(notice, name: name), to: notice.application.owner)
  }

  /// Returns the order that tells an agent to show a notice. Records the notice as shown, so that
  /// the daemon can handle the agent's reports about it.
  func order(_ notice: RecordingNotice, name: String?) -> SessionInterface.Notification {
    let known = shown[notice.instance]?.name
    shown[notice.instance] = (notice.application, known)
    let id = notice.application.id.name
    return SessionInterface.Notification(
      id: Int(clamping: Self.idBase + notice.instance.number),
      firedAt: Int(clamping: notice.since.nanoseconds), application: id, applicationName: name,
      title: "\(name ?? id) records audio", urgency: .normal, actions: [],
      shown: known.map { .init($0) })
  }

  func hide(_ instance: InstanceID, of key: ApplicationKey) {
    let name = shown.removeValue(forKey: instance)?.name
    agents.withdraw(
      NotificationID(Self.idBase + instance.number), shownAs: name, of: key.owner)
  }

  // MARK: Reports of an agent

  func isShown(_ id: Int, as name: DesktopName, to user: UserID) {
    guard let instance = Self.instance(id), shown[instance]?.application.owner == user
    else { return }
    shown[instance]?.name = name
  }

  /// Returns the application whose notice the user chose; nil if the user has no notice with this
  /// id.
  func chosen(_ id: Int, by user: UserID) -> ApplicationKey? {
    guard let instance = Self.instance(id), let key = shown[instance]?.application,
      key.owner == user
    else { return nil }
    return key
  }
}

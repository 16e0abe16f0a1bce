import TaskSchedulerWire

/// The identity of a notification in the agent. The id alone is not sufficient, because two daemons
/// may use the same id.
struct NotificationKey: Hashable, Comparable {
  /// The number of the daemon: the index of its socket in the agent's list of sockets.
  var daemon: Int
  /// The daemon's id of the notification.
  var id: Int

  static func < (one: NotificationKey, other: NotificationKey) -> Bool {
    (one.daemon, one.id) < (other.daemon, other.id)
  }
}

/// A notification that a daemon wants the user to see.
struct PresentedNotification: Hashable {
  var key: NotificationKey
  var content: SessionInterface.Notification
  /// Whether the service shows the notification without a sound, because the user has already
  /// heard the sound.
  var isSilent = false

  init(_ content: SessionInterface.Notification, daemon: Int) {
    key = NotificationKey(daemon: daemon, id: content.id)
    self.content = content
  }

  /// Returns whether both values are the same firing of the same notification. A daemon sends a
  /// notification again after a new attachment.
  func isSameFiring(as other: PresentedNotification) -> Bool {
    key == other.key && content.firedAt == other.content.firedAt
  }
}

import TaskSchedulerWire

/// Something that happened to a notification on the user's desktop, or to the notification service.
enum DesktopOccurrence: Equatable {
  /// The service shows the notification. The session reports this again if the notification is
  /// replaced.
  case shown(NotificationKey, SessionInterface.ShownNotification)
  /// The user has chosen the notification itself, or one of its actions. If this closes the
  /// notification, ``closed(_:)`` follows.
  case chosen(NotificationKey, action: String?, activationToken: String?)
  /// The service no longer shows the notification, or never showed it.
  case closed(NotificationKey)
  /// No service is known to show the notification. The session reports this again if the kind of
  /// failure changes.
  case failed(NotificationKey, DesktopFailure)
  /// The reason why no notification can be shown; nil if notifications can be shown again.
  case problem(DesktopFailure?)
}

/// The reason why no service shows a notification.
package enum DesktopFailure: Hashable, Sendable, CustomStringConvertible {
  /// The user has no session bus, or the bus refuses the connection.
  case noBus(String)
  case noService(String)
  /// The service did not reply in time. It may still show the notification.
  case noAnswer
  /// The service refuses the notification, or has exited each time that it received the
  /// notification. The agent drops the notification.
  case refused(String)

  /// Whether the agent keeps the notification, to show it as soon as possible.
  var isKept: Bool {
    switch self {
    case .noBus, .noService, .noAnswer: true
    case .refused: false
    }
  }

  /// Whether both failures are the same case. Their texts may differ.
  func isSameKind(as other: DesktopFailure) -> Bool {
    switch self {
    case .noBus: if case .noBus = other { true } else { false }
    case .noService: if case .noService = other { true } else { false }
    case .noAnswer: if case .noAnswer = other { true } else { false }
    case .refused: if case .refused = other { true } else { false }
    }
  }

  package var description: String {
    switch self {
    case .noBus(let text): "no session bus: \(text)"
    case .noService(let text): "no notification service: \(text)"
    case .noAnswer: "the notification service does not answer"
    case .refused(let text): "the notification service refuses the notification: \(text)"
    }
  }
}

import TaskSchedulerWire

/// What a notification says.
public typealias NotificationContent = ApplicationInterface.NotificationContent

/// When a notification fires: a wall-clock time in a time zone, and how often it repeats.
public typealias NotificationSchedule = ApplicationInterface.NotificationSchedule

/// How often a notification repeats, by the calendar of its time zone.
public typealias RepeatInterval = ApplicationInterface.RepeatInterval

/// Whether a notification waits for its time, has fired and not been shown yet, or was shown.
public typealias NotificationState = ApplicationInterface.NotificationState

/// A local notification. Unique for as long as the daemon's store of them lasts.
public struct NotificationID: Hashable, Sendable, CustomStringConvertible {
  /// The daemon's number for it, never 0.
  public let rawValue: Int

  /// One that was kept across a run of the program.
  public init(_ rawValue: Int) {
    self.rawValue = rawValue
  }

  public var description: String { String(rawValue) }
}

/// A local notification, as the daemon keeps it.
public struct LocalNotification: Hashable, Sendable {
  public let id: NotificationID
  public let content: NotificationContent
  /// Nil for one that was presented at once.
  public let schedule: NotificationSchedule?
  public let state: NotificationState
  /// When it fires next, or fired: microseconds since 1970 (CLOCK_REALTIME).
  public let firesAtUSec: Int

  init(_ notification: ApplicationInterface.Notification) {
    id = NotificationID(notification.id)
    content = notification.content
    schedule = notification.schedule
    state = notification.state
    firesAtUSec = notification.firesAtUSec
  }
}

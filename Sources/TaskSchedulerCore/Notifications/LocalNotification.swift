/// The calendar unit by which a notification repeats in its time zone (contract §9).
public enum RepeatInterval: String, Equatable, Sendable, CaseIterable {
  case minute, hour, day, week, month, year
}

/// The time at which a notification fires: a wall-clock time in a time zone.
public struct NotificationSchedule: Equatable, Sendable {
  /// The local time in the time zone, as `YYYY-MM-DDTHH:MM:SS`.
  public var date: String
  /// The name of a time zone in the tz database, such as `Europe/Berlin`.
  public var timeZone: String
  /// The interval of the repetition; nil if the notification fires once.
  public var repeats: RepeatInterval?

  public init(date: String, timeZone: String, repeats: RepeatInterval? = nil) {
    self.date = date
    self.timeZone = timeZone
    self.repeats = repeats
  }
}

/// The content of a notification. The scheduler passes it to the store unchanged.
public struct NotificationContent: Equatable, Sendable {
  public var title: String
  public var body: String
  /// A name of the freedesktop sound theme, such as `message-new-instant`, or the absolute path of
  /// a sound file; nil for no sound.
  public var sound: String?
  /// The application's badge after the notification has fired; nil leaves the badge, 0 removes it.
  public var badge: Int?
  /// Data for the application, which receives it with the notification. The user does not see it.
  public var userData: String?

  public init(
    title: String, body: String = "", sound: String? = nil, badge: Int? = nil,
    userData: String? = nil
  ) {
    self.title = title
    self.body = body
    self.sound = sound
    self.badge = badge
    self.userData = userData
  }
}

/// A notification that a client requests.
public struct NotificationDraft: Equatable, Sendable {
  public var content: NotificationContent
  /// The time at which the notification fires; nil to fire now.
  public var schedule: NotificationSchedule?
  /// The first time at which the notification fires, which the daemon computes from ``schedule``;
  /// nil to fire now.
  public var firesAt: WallTime?

  public init(
    content: NotificationContent, schedule: NotificationSchedule? = nil, firesAt: WallTime? = nil
  ) {
    self.content = content
    self.schedule = schedule
    self.firesAt = firesAt
  }
}

/// What the scheduler knows about a notification that waits for its time.
public struct ScheduledNotification: Equatable, Sendable {
  public var id: NotificationID
  public var application: ApplicationKey
  public var firesAt: WallTime
  /// Whether the notification fires again after ``firesAt``.
  public var repeats: Bool

  public init(id: NotificationID, application: ApplicationKey, firesAt: WallTime, repeats: Bool) {
    self.id = id
    self.application = application
    self.firesAt = firesAt
    self.repeats = repeats
  }
}

/// How often a notification repeats, by the calendar of its time zone (contract §9).
public enum RepeatInterval: String, Hashable, Sendable, CaseIterable {
  case minute, hour, day, week, month, year
}

/// When a notification fires: a wall-clock time in a time zone.
public struct NotificationSchedule: Hashable, Sendable {
  /// `YYYY-MM-DDTHH:MM:SS`, as the clock on the wall shows it there.
  public var date: String
  /// A zone of the tz database, such as `Europe/Berlin`.
  public var timeZone: String
  /// nil fires once.
  public var repeats: RepeatInterval?

  public init(date: String, timeZone: String, repeats: RepeatInterval? = nil) {
    self.date = date
    self.timeZone = timeZone
    self.repeats = repeats
  }
}

/// What a notification says. Of no meaning to the policy, which only carries it to the store.
public struct NotificationContent: Hashable, Sendable {
  public var title: String
  public var body: String
  /// A name of the freedesktop sound theme, such as `message-new-instant`, or the absolute path of
  /// a sound file; nil is silent.
  public var sound: String?
  /// What the application's badge is set to when it fires; nil leaves it, 0 removes it.
  public var badge: Int?
  /// The application's own, given back when it hears of the notification; not shown.
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

/// A notification that is asked for.
public struct NotificationDraft: Hashable, Sendable {
  public var content: NotificationContent
  /// nil is to be presented now.
  public var schedule: NotificationSchedule?
  /// When it fires first, found from ``schedule`` by the daemon; nil is now.
  public var firesAt: WallTime?

  public init(
    content: NotificationContent, schedule: NotificationSchedule? = nil, firesAt: WallTime? = nil
  ) {
    self.content = content
    self.schedule = schedule
    self.firesAt = firesAt
  }
}

/// A notification that waits for its time, as the policy keeps it.
public struct ScheduledNotification: Hashable, Sendable {
  public var id: NotificationID
  public var application: ApplicationKey
  public var firesAt: WallTime
  /// Whether another time comes after that.
  public var repeats: Bool

  public init(id: NotificationID, application: ApplicationKey, firesAt: WallTime, repeats: Bool) {
    self.id = id
    self.application = application
    self.firesAt = firesAt
    self.repeats = repeats
  }
}

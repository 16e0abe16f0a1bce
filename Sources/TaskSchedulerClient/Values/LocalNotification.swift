import FoundationEssentials
import TaskSchedulerWire

/// The content of a notification. The texts may contain line feeds, but no other control
/// characters.
public struct NotificationContent: Hashable, Sendable {
  /// The title, of 256 bytes at most.
  public var title: String
  /// The text below the title, of 4096 bytes at most.
  public var body: String?
  /// A name from the freedesktop sound theme, or the absolute path of a sound file; 1024 bytes at
  /// most. nil means no sound.
  public var sound: String?
  /// The badge that the application has after the notification fires, from 0 to 999,999,999; 0
  /// removes the badge.
  public var badge: Int?
  /// Data for the application; the user does not see it. 4096 bytes at most.
  public var userData: String?

  /// Creates the content of a notification.
  public init(
    title: String, body: String? = nil, sound: String? = nil, badge: Int? = nil,
    userData: String? = nil
  ) {
    self.title = title
    self.body = body
    self.sound = sound
    self.badge = badge
    self.userData = userData
  }

  init(_ content: ApplicationInterface.NotificationContent) {
    self.init(
      title: content.title, body: content.body, sound: content.sound, badge: content.badge,
      userData: content.userData)
  }

  var wireValue: ApplicationInterface.NotificationContent {
    .init(title: title, body: body, sound: sound, badge: badge, userData: userData)
  }
}

/// The time at which a notification fires, and its repetition.
public struct NotificationSchedule: Hashable, Sendable {
  /// The interval after which a notification repeats, by the calendar of its time zone.
  public enum RepeatInterval: String, Hashable, Sendable, CaseIterable {
    /// Repeats at the same second of each minute.
    case minute
    /// Repeats at the same minute of each hour.
    case hour
    /// Repeats at the same time of each day.
    case day
    /// Repeats at the same time on the same weekday.
    case week
    /// Repeats on the same day of each month.
    case month
    /// Repeats on the same day of each year.
    case year

    init(_ interval: ApplicationInterface.RepeatInterval) {
      switch interval {
      case .minute: self = .minute
      case .hour: self = .hour
      case .day: self = .day
      case .week: self = .week
      case .month: self = .month
      case .year: self = .year
      }
    }

    var wireValue: ApplicationInterface.RepeatInterval {
      switch self {
      case .minute: .minute
      case .hour: .hour
      case .day: .day
      case .week: .week
      case .month: .month
      case .year: .year
      }
    }
  }

  /// The time at which the notification fires first.
  public var date: CalendarDate
  /// The interval after which the notification fires again; nil if it fires once.
  public var repeatInterval: RepeatInterval?

  /// A schedule by the calendar of a time zone.
  public static func at(
    _ date: CalendarDate, repeats repeatInterval: RepeatInterval? = nil
  ) -> NotificationSchedule {
    NotificationSchedule(date: date, repeatInterval: repeatInterval)
  }

  /// A schedule at an instant, rounded up to a second.
  public static func at(_ date: Date) -> NotificationSchedule { .at(CalendarDate(date)) }

  /// A schedule for the time a duration from now, by the machine's clock, rounded up to a second.
  public static func after(_ duration: Duration) -> NotificationSchedule {
    .at(Date.now.addingTimeInterval(duration.inSeconds))
  }

  private init(date: CalendarDate, repeatInterval: RepeatInterval?) {
    self.date = date
    self.repeatInterval = repeatInterval
  }

  /// Creates the schedule; nil if its date is not valid.
  init?(_ schedule: ApplicationInterface.NotificationSchedule) {
    guard
      let date = CalendarDate(schedule.date, timeZone: TimeZoneName(schedule.timeZone))
    else { return nil }
    self.init(date: date, repeatInterval: schedule.repeats.map { RepeatInterval($0) })
  }

  var wireValue: ApplicationInterface.NotificationSchedule {
    .init(
      date: date.textWithoutZone, timeZone: date.timeZone.rawValue,
      repeats: repeatInterval?.wireValue)
  }
}

/// The identity of a local notification, unique for as long as the daemon's store of notifications
/// exists.
public struct NotificationID: Hashable, Sendable, CustomStringConvertible {
  /// The number that the daemon gave the notification, 1 or more.
  public let rawValue: Int

  /// Creates the identity from a number that an earlier process of the application has stored.
  public init(_ rawValue: Int) {
    self.rawValue = rawValue
  }

  /// The number in decimal digits.
  public var description: String { String(rawValue) }
}

/// A local notification that the daemon keeps.
public struct LocalNotification: Hashable, Sendable, Identifiable {
  /// The progress of a notification.
  public enum State: String, Hashable, Sendable, CaseIterable {
    /// The notification waits for its time.
    case scheduled
    /// The notification has fired. Since then, no desktop has shown it, and the application has not
    /// received it.
    case fired
    /// A desktop has shown the notification, or the active application has received it.
    case presented

    init(_ state: ApplicationInterface.NotificationState) {
      switch state {
      case .scheduled: self = .scheduled
      case .fired: self = .fired
      case .presented: self = .presented
      }
    }
  }

  /// The identity of the notification.
  public let id: NotificationID
  /// The content of the notification.
  public let content: NotificationContent
  /// The time at which the notification fires; nil if the application presented it at once.
  public let schedule: NotificationSchedule?
  /// The progress of the notification.
  public let state: State
  /// The instant at which the notification fires next, or has fired.
  public let fireDate: Date

  init(_ notification: ApplicationInterface.Notification) {
    id = NotificationID(notification.id)
    content = NotificationContent(notification.content)
    schedule = notification.schedule.flatMap { NotificationSchedule($0) }
    state = State(notification.state)
    fireDate = Date(timeIntervalSince1970: Double(notification.firesAtUSec) / 1_000_000)
  }
}

extension Duration {
  /// The duration as a number of seconds.
  var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

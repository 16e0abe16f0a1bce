/// The types that the methods speak of.
extension ApplicationInterface {
  /// The five states of an application. Foreground is active or inactive; background is background
  /// or suspended.
  public enum State: String, Codable, CaseIterable, Hashable, Sendable {
    case notRunning, inactive, active, background, suspended
  }

  /// The six lifecycle callbacks, each to be acknowledged within CallbackTimeout (6 s by default);
  /// and keepAlive, the call of the keep-alive handler, within KeepAliveHandlerTime (30 s by
  /// default).
  public enum CallbackKind: String, Codable, CaseIterable, Hashable, Sendable {
    case didFinishLaunching
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    case willTerminate
    case keepAlive
  }

  /// Why the instance was started.
  /// - `user`: a person chose it, or it registered by itself
  /// - `operator`: taskctl launch, or taskctl run
  /// - `boot`: the daemon started
  /// - `relaunch`: it had ended in a way that calls for a new start
  /// - `location`: a significant location change or a region
  /// - `notification`: a person chose its notification, or a remote one arrived
  public enum LaunchReason: String, Codable, CaseIterable, Hashable, Sendable {
    case user, `operator`, boot, relaunch, location, notification
  }

  /// One callback. Acknowledge it with its id; the next is sent only then.
  public struct Callback: Codable, Hashable, Sendable {
    public var id: Int
    public var kind: CallbackKind
    /// Given with didFinishLaunching only.
    public var launchReason: LaunchReason?

    public init(id: Int, kind: CallbackKind, launchReason: LaunchReason? = nil) {
      self.id = id
      self.kind = kind
      self.launchReason = launchReason
    }
  }

  /// One background task that has begun and not ended.
  public struct BackgroundTask: Codable, Hashable, Sendable {
    /// Unique for the life of the instance; never 0.
    public var id: Int
    public var name: String?
    public var beganAtUSec: Int
    /// True once its expiration handler has been called in this stint in the background.
    public var expired: Bool

    public init(id: Int, name: String? = nil, beganAtUSec: Int, expired: Bool) {
      self.id = id
      self.name = name
      self.beganAtUSec = beganAtUSec
      self.expired = expired
    }
  }

  /// The instance as it stands when its event stream opens. After a reconnection this is what to
  /// resynchronise from: tasks that are not listed have ended, those marked expired are to be ended
  /// now.
  public struct Registration: Codable, Hashable, Sendable {
    public var application: String
    public var instance: Int
    public var state: State
    public var launchReason: LaunchReason
    /// The modes that the manifest declares: audio, location, voip.
    public var backgroundModes: [String]
    /// What is left of BackgroundTime; null means unlimited (foreground).
    public var backgroundTimeRemainingUSec: Int?
    public var tasks: [BackgroundTask]

    public init(
      application: String, instance: Int, state: State, launchReason: LaunchReason,
      backgroundModes: [String], backgroundTimeRemainingUSec: Int? = nil, tasks: [BackgroundTask]
    ) {
      self.application = application
      self.instance = instance
      self.state = state
      self.launchReason = launchReason
      self.backgroundModes = backgroundModes
      self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
      self.tasks = tasks
    }
  }

  /// The expiration handler of a task is to be called: end the task now. At the limit an
  /// application that still has one outstanding is killed rather than suspended. It comes once in
  /// each stint in the background: a task that is carried over into a later stint expires there
  /// again.
  public struct Expiration: Codable, Hashable, Sendable {
    public var task: Int
    public var backgroundTimeRemainingUSec: Int?

    public init(task: Int, backgroundTimeRemainingUSec: Int? = nil) {
      self.task = task
      self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
    }
  }

  /// A managed socket, and what has become of it.
  public struct SocketReadiness: Codable, Hashable, Sendable {
    public var socket: Int
    /// There is something to read.
    public var data: Bool
    /// Urgent (out-of-band) data.
    public var urgentData: Bool
    /// The peer has closed the connection, or its sending half.
    public var hangUp: Bool
    public var error: Bool
    /// The daemon can watch it no longer: hand the socket over again.
    public var unwatched: Bool

    public init(
      socket: Int, data: Bool, urgentData: Bool, hangUp: Bool, error: Bool, unwatched: Bool
    ) {
      self.socket = socket
      self.data = data
      self.urgentData = urgentData
      self.hangUp = hangUp
      self.error = error
      self.unwatched = unwatched
    }
  }

  /// Managed sockets that became ready while the application was suspended. It may run for
  /// EventTime (10 s by default), longer with a background task; to be suspended before that,
  /// acknowledge the id.
  public struct SocketEvent: Codable, Hashable, Sendable {
    public var id: Int
    public var sockets: [SocketReadiness]

    public init(id: Int, sockets: [SocketReadiness]) {
      self.id = id
      self.sockets = sockets
    }
  }

  /// What of the machine may change. `custom` changes are posted by an operator and have a name.
  public enum SystemChangeKind: String, Codable, CaseIterable, Hashable, Sendable {
    case timeZone, clock, day, locale, network, powerSource, custom
  }

  /// A change of the machine. What held changes come after a suspension: one of each kind, the
  /// newest.
  public struct SystemChange: Codable, Hashable, Sendable {
    public var kind: SystemChangeKind
    /// The name of a custom change.
    public var name: String?
    /// What holds now, where a word says it: Europe/Berlin, 2026-11-22, de_DE.UTF-8, online or
    /// offline, mains or battery, or what the operator wrote.
    public var value: String?

    public init(kind: SystemChangeKind, name: String? = nil, value: String? = nil) {
      self.kind = kind
      self.name = name
      self.value = value
    }
  }

  /// How often a notification repeats, by the calendar of its time zone.
  public enum RepeatInterval: String, Codable, CaseIterable, Hashable, Sendable {
    case minute, hour, day, week, month, year
  }

  /// When a notification fires.
  public struct NotificationSchedule: Codable, Hashable, Sendable {
    /// The wall-clock time in the zone: YYYY-MM-DDTHH:MM:SS.
    public var date: String
    /// A zone of the tz database: Europe/Berlin.
    public var timeZone: String
    /// null fires once.
    public var repeats: RepeatInterval?

    public init(date: String, timeZone: String, repeats: RepeatInterval? = nil) {
      self.date = date
      self.timeZone = timeZone
      self.repeats = repeats
    }
  }

  /// What a notification says. Texts are UTF-8 without control characters but line feeds.
  public struct NotificationContent: Codable, Hashable, Sendable {
    /// At most 256 bytes.
    public var title: String
    /// At most 4096 bytes.
    public var body: String?
    /// A name of the freedesktop sound theme (message-new-instant) or the absolute path of a sound
    /// file.
    public var sound: String?
    /// What the application's badge becomes when it fires; 0 removes it.
    public var badge: Int?
    /// Given back with the notification, not shown; at most 4096 bytes.
    public var userData: String?

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
  }

  /// Whether a notification waits for its time, has fired and not been shown yet, or was shown.
  public enum NotificationState: String, Codable, CaseIterable, Hashable, Sendable {
    case scheduled, fired, presented
  }

  /// A local notification.
  public struct Notification: Codable, Hashable, Sendable {
    public var id: Int
    public var content: NotificationContent
    /// null was to be presented at once.
    public var schedule: NotificationSchedule?
    public var state: NotificationState
    /// When it fires next, or fired: microseconds since 1970 (CLOCK_REALTIME).
    public var firesAtUSec: Int

    public init(
      id: Int, content: NotificationContent, schedule: NotificationSchedule? = nil,
      state: NotificationState, firesAtUSec: Int
    ) {
      self.id = id
      self.content = content
      self.schedule = schedule
      self.state = state
      self.firesAtUSec = firesAtUSec
    }
  }

  /// A notification of the application's own has fired while it was active or, where `chosen`, the
  /// user has chosen it.
  public struct NotificationEvent: Codable, Hashable, Sendable {
    public var notification: Notification
    public var chosen: Bool

    public init(notification: Notification, chosen: Bool) {
      self.notification = notification
      self.chosen = chosen
    }
  }
}

/// The types that the methods speak of.
extension ApplicationInterface {
  /// The five states of an application. Foreground is active or inactive; background is background
  /// or suspended.
  public enum State: String, Codable, CaseIterable, Hashable, Sendable {
    case notRunning, inactive, active, background, suspended
  }

  /// The six lifecycle callbacks. Each must be acknowledged within CallbackTimeout (6 s by
  /// default).
  public enum CallbackKind: String, Codable, CaseIterable, Hashable, Sendable {
    case didFinishLaunching
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    case willTerminate
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
    /// True once its expiration handler has been called.
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
      backgroundModes: [String], backgroundTimeRemainingUSec: Int? = nil,
      tasks: [BackgroundTask]
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
  /// application that still has one outstanding is killed rather than suspended.
  public struct Expiration: Codable, Hashable, Sendable {
    public var task: Int
    public var backgroundTimeRemainingUSec: Int?

    public init(task: Int, backgroundTimeRemainingUSec: Int? = nil) {
      self.task = task
      self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
    }
  }
}

/// What the method Explain speaks of.
extension ControlInterface {
  /// What entitled an application to run in the background last, and does not any more.
  ///   task             a background task, `task` and `taskName`: it was ended
  ///   callback         the callback of this kind: it was acknowledged
  ///   audio, location, event
  ///                    it does not play, locate or handle an event any more
  ///   eventTime        the time to handle an event (EventTime) was over
  ///   launchTime       the time to open its event stream (LaunchTime) was over
  public enum EndedEntitlementKind: String, Codable, CaseIterable, Hashable, Sendable {
    case task, callback, audio, location, event, eventTime, launchTime
  }

  /// One of them, and when it ended.
  public struct EndedEntitlement: Codable, Hashable, Sendable {
    public var kind: EndedEntitlementKind
    public var task: Int?
    public var taskName: String?
    public var callback: CallbackKind?
    public var atUSec: Int

    public init(
      kind: EndedEntitlementKind, task: Int? = nil, taskName: String? = nil,
      callback: CallbackKind? = nil, atUSec: Int
    ) {
      self.kind = kind
      self.task = task
      self.taskName = taskName
      self.callback = callback
      self.atUSec = atUSec
    }
  }

  /// What comes next by itself.
  ///   callback         it is killed, unless it has acknowledged the callback of this kind
  ///   expiration       the expiration handlers of its background tasks are called
  ///   backgroundTime   its background time is over: it is suspended, or killed with a task
  ///                    outstanding
  ///   launch           the time to open its event stream is over
  ///   event            the time to handle what it was woken for is over
  ///   suspension       stopping its processes is tried again
  ///   kill             SIGKILL follows SIGTERM
  ///   killRetry        SIGKILL, which could not be sent to all, is tried again
  ///   keepAlive        its keep-alive handler is called
  ///   relaunch         it is launched again
  ///   relaunchAfterPressure
  ///                    it may be launched again, once memory pressure is over
  public enum LimitKind: String, Codable, CaseIterable, Hashable, Sendable {
    case callback
    case expiration
    case backgroundTime
    case launch
    case event
    case suspension
    case kill
    case killRetry
    case keepAlive
    case relaunch
    case relaunchAfterPressure
  }

  /// One of them, and when it comes.
  public struct Limit: Codable, Hashable, Sendable {
    public var kind: LimitKind
    public var callback: CallbackKind?
    public var atUSec: Int

    public init(kind: LimitKind, callback: CallbackKind? = nil, atUSec: Int) {
      self.kind = kind
      self.callback = callback
      self.atUSec = atUSec
    }
  }

  /// Why an application is as it is, beside what `Application` says.
  public struct Explanation: Codable, Hashable, Sendable {
    /// What brought it into its state, as in Change; null where it has never run.
    public var cause: String?
    public var lastEntitlement: EndedEntitlement?
    /// True where a debugger that is no process of the instance traces it: then no limit is
    /// enforced but those of an end that an operator or the user has ordered.
    public var traced: Bool
    /// The nearest first.
    public var limits: [Limit]
    /// Set where it is being ended for memory, or was and does not run: why it of all.
    public var memoryEnd: MemoryEnd?
    /// The same for what it did in the background.
    public var brokenRule: BrokenRule?

    public init(
      cause: String? = nil, lastEntitlement: EndedEntitlement? = nil, traced: Bool,
      limits: [Limit], memoryEnd: MemoryEnd? = nil, brokenRule: BrokenRule? = nil
    ) {
      self.cause = cause
      self.lastEntitlement = lastEntitlement
      self.traced = traced
      self.limits = limits
      self.memoryEnd = memoryEnd
      self.brokenRule = brokenRule
    }
  }
}

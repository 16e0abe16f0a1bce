// Why an application is in its state: what caused the state, what entitles the application to run,
// and which limit comes next. The scheduler noted all of this when it happened.

/// The explanation of an application's state, as `taskctl why` shows it.
public struct Explanation: Hashable, Sendable {
  /// What caused the present state; nil if the application has never run.
  public var cause: TransitionCause?
  /// What last entitled the application to run in the background and no longer does; nil in the
  /// foreground, and if nothing has since the application was sent to the background.
  public var lastEntitlement: EndedEntitlement?
  /// Whether a debugger traces the application. Then no limit is enforced.
  public var isTraced: Bool
  /// The limits ahead, the nearest first.
  public var limits: [Limit]
  /// The details of the end under way, or, if the application does not run, of its last end.
  public var end: EndDetail?
}

/// Something that entitled an instance to run in the background, and has ended.
public struct EndedEntitlement: Hashable, Sendable {
  public var kind: Kind
  public var at: Instant

  /// What entitled the instance, and how that ended.
  public enum Kind: Hashable, Sendable {
    /// The application ended a background task.
    case task(TaskID, name: String?)
    /// The application acknowledged a callback.
    case callback(CallbackKind)
    /// Audio, location updates, or an event that the daemon observed.
    case activity(Activity)
    /// The application acknowledged an event that it was woken for.
    case eventHandled
    /// `EventTime` passed.
    case eventTime
    /// `LaunchTime` passed, and the application had not opened its event stream.
    case launchTime
  }
}

/// An action that the scheduler takes by itself at a known instant.
public struct Limit: Hashable, Sendable {
  public var kind: Kind
  public var at: Instant

  /// The action that the scheduler takes.
  public enum Kind: Hashable, Sendable {
    /// The application is killed, unless it has acknowledged this callback.
    case callback(CallbackKind)
    /// The expiration handlers of the background tasks are called.
    case expiration
    /// The background time ends. The application is suspended, or killed if a task is outstanding.
    case backgroundTime
    /// The time to open the event stream ends.
    case launch
    /// The time to handle an event ends.
    case event
    /// The daemon tries again to stop the processes.
    case suspension
    /// SIGKILL follows the stop signal.
    case kill
    /// The daemon sends SIGKILL again, because it could not send it to all processes.
    case killRetry
    /// The keep-alive handler is called.
    case keepAlive
    /// The application is relaunched.
    case relaunch
    /// The application may be relaunched, once memory pressure is over.
    case relaunchAfterPressure
  }
}

/// The details of an end.
public enum EndDetail: Hashable, Sendable {
  /// The application did not acknowledge this callback in time.
  case callback(CallbackKind)
  /// The first of the outstanding background tasks, and their number.
  case task(TaskID, name: String?, outstanding: Int)
  /// The application was chosen to free its memory. `warnedAt` is when it received the memory
  /// warning; nil if it did not receive one.
  case memory(MemoryChoice, warnedAt: Instant?)
  /// The application used this CPU time within this span in the background.
  case processor(Duration, within: Duration, share: ProcessorShare)
  /// The application used GPUs for this long in the background.
  case gpu(Duration)
  /// The application held a lock or a lease on this file when all its processes were stopped.
  case sharedResource(path: String)
}

/// The share of a CPU that an instance may use in the background.
public enum ProcessorShare: Hashable, Sendable {
  /// The percentage of one CPU that a throttled instance may use.
  case throttled(percent: Int)
  /// The percentage of one CPU that an instance may use. This instance had been throttled before,
  /// until it used less.
  case usual(percent: Int)

  public var percent: Int {
    switch self {
    case .throttled(let percent), .usual(let percent): percent
    }
  }

  public var isThrottle: Bool {
    switch self {
    case .throttled: true
    case .usual: false
    }
  }
}

/// How an instance came into its state, and what last entitled it to run.
struct Reasons: Hashable, Sendable {
  /// The cause of the present state; nil until the first transition.
  private(set) var cause: TransitionCause?
  private(set) var displacedBy: ApplicationKey?
  private(set) var lastEntitlement: EndedEntitlement?

  mutating func moved(to next: ApplicationState, _ cause: TransitionCause) {
    // A step on the way to the foreground must not hide the cause of the activation.
    let isStep = cause == .acknowledged || (cause == .register && next == .inactive)
    if self.cause == nil || !isStep { self.cause = cause }
    if next.isForeground || cause == .sendAway { displacedBy = nil }
    if let activated = cause.activated { displacedBy = activated }
    if next != .suspended { lastEntitlement = nil }
  }

  mutating func entitlementEnded(_ kind: EndedEntitlement.Kind, at now: Instant) {
    lastEntitlement = EndedEntitlement(kind: kind, at: now)
  }
}

extension Scheduler {
  /// Returns the explanation of an application's state, or nil if the application is unknown.
  public func explanation(of key: ApplicationKey) -> Explanation? {
    guard let application = applications[key] else { return nil }
    guard let instance = application.instance.flatMap({ instances[$0] }) else {
      // Without multitasking, relaunches wait.
      let relaunch = policy.multitaskingSupported ? application.relaunch : nil
      let kind: Limit.Kind =
        relaunch.map(isHeldByMemory) == true ? .relaunchAfterPressure : .relaunch
      return Explanation(
        cause: application.lastEnd == nil ? nil : .leaderExited, isTraced: false,
        limits: relaunch?.dueAt.map { [Limit(kind: kind, at: $0)] } ?? [],
        end: application.lastEnd?.detail)
    }
    var limits = instance.limits(policy).filter {
      // These limits have no effect on an instance without tasks.
      !instance.tasks.isEmpty || ($0.kind != .expiration && $0.kind != .backgroundTime)
    }
    if instance.termination == nil, let planned = keepAlives.plannedBurst(of: instance.id) {
      limits.append(Limit(kind: .keepAlive, at: planned))
    }
    return Explanation(
      cause: instance.reasons.cause,
      lastEntitlement: instance.state.isForeground ? nil : instance.reasons.lastEntitlement,
      isTraced: instance.isTraced, limits: limits.sorted { $0.at < $1.at },
      end: instance.termination?.detail)
  }
}

// Why an application is as it is: what brought it there, what it may still run for and which limit
// comes next. All of it was noted when it happened; nothing is guessed afterwards.

/// The answer to "why?" about one application.
public struct Explanation: Hashable, Sendable {
  /// What brought it into its state; nil where it has never run.
  public var cause: TransitionCause?
  /// What entitled it to run in the background last, and does not any more; nil in the foreground,
  /// and where nothing has since it was sent there.
  public var lastEntitlement: EndedEntitlement?
  /// Whether a debugger traces it: then no limit is enforced.
  public var isTraced: Bool
  /// What comes next by itself, the nearest first.
  public var limits: [Limit]
  /// What exactly brings its end about, or brought its last one about while it does not run.
  public var end: EndDetail?
}

/// Something that entitled an instance to run in the background, and has ended.
public struct EndedEntitlement: Hashable, Sendable {
  public var kind: Kind
  public var at: Instant

  /// What it was, and how it ended.
  public enum Kind: Hashable, Sendable {
    /// A background task has been ended by its application.
    case task(TaskID, name: String?)
    /// A callback has been acknowledged.
    case callback(CallbackKind)
    /// Audio, location updates, or an event as the daemon saw it.
    case activity(Activity)
    /// An event that it was woken for has been acknowledged.
    case eventHandled
    /// `EventTime` was over.
    case eventTime
    /// `LaunchTime` was over, and it had not opened its event stream.
    case launchTime
  }
}

/// Something that happens by itself at a moment that is known.
public struct Limit: Hashable, Sendable {
  public var kind: Kind
  public var at: Instant

  /// What happens then.
  public enum Kind: Hashable, Sendable {
    /// It is killed, unless it has acknowledged this callback.
    case callback(CallbackKind)
    /// The expiration handlers of its background tasks are called.
    case expiration
    /// Its background time is over: it is suspended, or killed with a task outstanding.
    case backgroundTime
    /// The time to open its event stream is over.
    case launch
    /// The time to handle what it was woken for is over.
    case event
    /// Stopping its processes is tried again.
    case suspension
    /// SIGKILL follows SIGTERM.
    case kill
    /// SIGKILL, which could not be sent to all, is tried again.
    case killRetry
    /// Its keep-alive handler is called.
    case keepAlive
    /// It is launched again.
    case relaunch
    /// It may be launched again, once memory pressure is over.
    case relaunchAfterPressure
  }
}

/// What exactly brought an end about.
public enum EndDetail: Hashable, Sendable {
  /// It was not acknowledged in time.
  case callback(CallbackKind)
  /// The first of the tasks that were outstanding, and how many there were.
  case task(TaskID, name: String?, outstanding: Int)
  /// It was chosen to end for its memory. When it was warned; nil where it could not hear it.
  case memory(MemoryChoice, warnedAt: Instant?)
  /// It used so much of processors within so long in the background.
  case processor(Duration, within: Duration, share: ProcessorShare)
  /// It used GPUs for so long in the background.
  case gpu(Duration)
  /// It held a lock or a lease on this file when all its processes stood still.
  case sharedResource(path: String)
}

/// What an instance may use of processors in the background.
public enum ProcessorShare: Hashable, Sendable {
  /// So many percent of one processor, to which it was throttled.
  case throttled(percent: Int)
  /// So many percent of one processor. It had been throttled before, until it used less.
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

/// How an instance came into its state, and what it could run for.
struct Reasons: Hashable, Sendable {
  /// nil until the first transition.
  private(set) var cause: TransitionCause?
  private(set) var displacedBy: ApplicationKey?
  private(set) var lastEntitlement: EndedEntitlement?

  mutating func moved(to next: ApplicationState, _ cause: TransitionCause) {
    // A step on the way to the foreground says nothing of what began the way.
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
  /// Why an application is as it is; nil where it is not known.
  public func explanation(of key: ApplicationKey) -> Explanation? {
    guard let application = applications[key] else { return nil }
    guard let instance = application.instance.flatMap({ instances[$0] }) else {
      // Without multitasking it waits.
      let relaunch = policy.multitaskingSupported ? application.relaunch : nil
      let kind: Limit.Kind =
        relaunch.map(isHeldByMemory) == true ? .relaunchAfterPressure : .relaunch
      return Explanation(
        cause: application.lastEnd == nil ? nil : .leaderExited, isTraced: false,
        limits: relaunch?.dueAt.map { [Limit(kind: kind, at: $0)] } ?? [],
        end: application.lastEnd?.detail)
    }
    var limits = instance.limits(policy).filter {
      // They say nothing to whoever has no task.
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

import TaskSchedulerCore

/// The state of one instance, derived from events and effects without asking the scheduler.
final class Sighting {
  let id: InstanceID
  let key: ApplicationKey
  let plan: Plan

  /// The launch that the instance was created for.
  struct Plan {
    var target: LaunchTarget
    var reason: LaunchReason
    var seat: SeatID
    var modes: [BackgroundMode]
    var mayStay: Bool
    var stopSignal = Signal.terminate
    var isAware = false
    /// The task that it begins with.
    var task: String?
  }

  var state = ApplicationState.notRunning
  /// Whether it becomes active once it has acknowledged its outstanding callbacks.
  var isRising = false
  var isAware: Bool
  var hasStream: Bool
  /// Whether it has ever been answered that it is registered.
  var hasRegistered = false

  // Outstanding callbacks, the first of which is in flight or must be delivered next.
  var owed: [CallbackKind] = []
  var inFlight: CallbackID?
  var callbackLast: UInt64 = 0
  var callbackSince: UInt64 = 0

  // Background tasks that it was granted, in order.
  var tasks: [(id: TaskID, isExpired: Bool)] = []
  var taskLast: UInt64 = 0

  // What wakes it: events that it handles (the id is not known before it is told), and the sockets
  // that it has handed over.
  var handled: [(id: CallbackID?, due: UInt64)] = []
  var sockets: [SocketID] = []
  var isWatched = false

  // The reasons for which it may run.
  var isPlaying = false
  var isLocating = false
  var eventCount = 0
  var launchDue: UInt64?
  var launchDueLate: UInt64 = 0

  // Its stretch in the background.
  var stintSince: UInt64 = 0
  var warnedAt: UInt64?
  var isLimitOver = false

  // Its suspension.
  var isStopping = false
  var isStopped = false
  var retryDue: UInt64?
  var retryDueLate: UInt64?
  /// The last instant at which it was found running although it was suspended.
  var lostAt: UInt64?

  // Its end.
  var ending: EndReason?
  var wasSuspendedAtEnd = false
  /// Whether an operator or the user has ordered it.
  var isOrdered = false
  var terminateDue: UInt64?
  var terminateDueLate: UInt64 = 0
  var isKilled = false
  /// The callback that it was killed for not having acknowledged.
  var lateAtKill: CallbackKind?
  var killRetryDue: UInt64?

  // Its use of the machine in the background.
  /// The priority of its processes.
  var priority = ProcessPriority.foreground
  var isLookedAt = false
  var throttledTo: Int?
  var wasThrottled = false
  /// The use at the start of the measured window.
  var stretch: (since: UInt64, processor: Duration, gpu: Duration)?
  /// The violated rule for which the daemon must kill it.
  var offence: EndReason?
  /// Whether the daemon must throttle it.
  var isExcessive = false

  // Debuggers.
  var askedAt: UInt64?
  var isTraced = false

  /// The instant from which its limits may have restarted.
  var base: UInt64 = 0

  init(id: InstanceID, key: ApplicationKey, plan: Plan) {
    self.id = id
    self.key = key
    self.plan = plan
    isAware = plan.isAware
    hasStream = plan.isAware
  }

  /// Adds callbacks, in this order, after those that are outstanding.
  func owe(_ kinds: [CallbackKind], at now: UInt64) {
    guard isAware else { return }
    if owed.isEmpty { callbackSince = now }
    owed += kinds
  }

  func limit(_ limits: Limits) -> UInt64 {
    max(stintSince + limits.backgroundTime, (warnedAt ?? 0) + limits.expirationLead)
  }

  /// Whether it has yet to acknowledge that it was launched or enters the foreground.
  var owesEntry: Bool { owed.contains(.didFinishLaunching) || owed.contains(.willEnterForeground) }

  /// Returns whether it certainly may run for a reason other than tasks.
  func isBusy(at now: UInt64) -> Bool {
    !owed.isEmpty || isPlaying || isLocating || eventCount > 0
      || launchDue.map { now < $0 } ?? false || handled.contains { now < $0.due }
  }

  func callbackLimit(_ limits: Limits) -> UInt64 {
    owed.first == .keepAlive ? limits.keepAliveHandlerTime : limits.callbackTimeout
  }

  /// Why it is killed when it does not acknowledge.
  var reasonOfLimit: EndReason {
    owed.first == .keepAlive ? .keepAliveTimeout : .callbackTimeout
  }

  /// Whether its keep-alive handler is called as soon as it has answered what it was told before.
  var hasCallWaiting: Bool { owed.dropFirst().contains(.keepAlive) }

  func callbackDue(_ limits: Limits) -> UInt64? {
    owed.isEmpty ? nil : callbackSince + callbackLimit(limits)
  }

  /// The latest moment until which it may handle an event.
  func handledDueLate(_ limits: Limits) -> UInt64? {
    handled.map { max($0.due, base + limits.eventTime) }.max()
  }

  /// Restarts the time for events, because the instance could not run.
  func handleAnew(_ limits: Limits, at now: UInt64) {
    for index in handled.indices {
      handled[index].due = max(handled[index].due, now + limits.eventTime)
    }
  }

  /// Notes that the instance received an event, possibly again.
  func told(of id: CallbackID) {
    if handled.contains(where: { $0.id == id }) { return }
    if let index = handled.firstIndex(where: { $0.id == nil }) { handled[index].id = id }
  }

  func hasTimeLeft(_ limits: Limits, at now: UInt64) -> Bool { isTraced || now < limit(limits) }

  /// Begins its end for a reason, with a callback unless it is suspended. A user's or operator's
  /// reason replaces the daemon's (§14).
  func end(_ reason: EndReason, at now: UInt64) {
    if let present = ending {
      if reason.isByPerson, !present.isByPerson { ending = reason }
      return
    }
    ending = reason
    isRising = false
    wasSuspendedAtEnd = state == .suspended
    if !wasSuspendedAtEnd {
      owe(state == .active ? [.willResignActive, .willTerminate] : [.willTerminate], at: now)
    }
  }
}

extension EndReason {
  /// Whether a user or operator chose the end. The daemon does not relaunch such an application.
  var isByPerson: Bool { self == .terminatedByOperator || self == .terminatedByUser }

  /// Whether neither the application nor a user or operator chose the end (§8).
  var callsForRelaunch: Bool {
    self != .exited(code: 0) && !isByPerson && self != .optedOut && self != .schedulerStopped
  }
}

/// The durations of a policy, in nanoseconds.
struct Limits {
  let callbackTimeout: UInt64
  let terminateTimeout: UInt64
  let backgroundTime: UInt64
  let expirationLead: UInt64
  let launchTime: UInt64
  let suspendRetryInterval: UInt64
  let wakeTolerance: UInt64
  let keepAliveHandlerTime: UInt64
  let eventTime: UInt64

  init(_ policy: Policy) {
    callbackTimeout = Nanoseconds.of(policy.callbackTimeout)
    terminateTimeout = Nanoseconds.of(policy.terminateTimeout)
    backgroundTime = Nanoseconds.of(policy.backgroundTime)
    expirationLead = Nanoseconds.of(policy.expirationLead)
    launchTime = Nanoseconds.of(policy.launchTime)
    suspendRetryInterval = Nanoseconds.of(policy.suspendRetryInterval)
    wakeTolerance = Nanoseconds.of(policy.wakeTolerance)
    keepAliveHandlerTime = Nanoseconds.of(policy.keepAliveHandlerTime)
    eventTime = Nanoseconds.of(policy.eventTime)
  }
}

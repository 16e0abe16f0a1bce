import TaskSchedulerCore

/// The state of one instance as the checkers derive it from events and effects, without asking the
/// scheduler. Instants and durations are in nanoseconds.
final class ObservedInstance {
  let id: InstanceID
  let key: ApplicationKey
  let plan: Plan
  var name: String { key.id.name }

  /// The properties of an instance that its launch, registration or adoption determines.
  struct Plan {
    var target: LaunchTarget
    var reason: LaunchReason
    var seat: SeatID
    var modes: [BackgroundMode]
    var mayStay: Bool
    var stopSignal = Signal.terminate
    var isAware = false
    /// The background task that begins with the adoption.
    var task: String?
  }

  var state = ApplicationState.notRunning
  /// Whether the instance becomes active when it has acknowledged its outstanding callbacks.
  var isActivating = false
  var isAware: Bool
  var hasStream: Bool
  /// Whether the scheduler has confirmed the registration.
  var hasRegistered = false

  // Outstanding callbacks. The first one is in flight, or must be delivered next.
  var outstanding: [CallbackKind] = []
  var inFlight: CallbackID?
  var callbackLast: UInt64 = 0
  var callbackSince: UInt64 = 0

  // Outstanding background tasks, in the order in which they began.
  var tasks: [(id: TaskID, isExpired: Bool)] = []
  var taskLast: UInt64 = 0

  // MARK: Handled events and managed sockets
  /// The events that the instance handles. An id is nil until the instance has received the event.
  var handledEvents: [(id: CallbackID?, due: UInt64)] = []
  /// The instant until which the instance may run for events that need no acknowledgement; nil if
  /// there is no such event.
  var unacknowledgedDue: UInt64?
  /// The events that let the instance run for `AudioGraceTime` after their acknowledgement, so that
  /// it can begin to play.
  var playEvents: Set<CallbackID> = []
  /// The instants until which the instance may run for events.
  var eventDues: [UInt64] { handledEvents.map(\.due) + (unacknowledgedDue.map { [$0] } ?? []) }
  var sockets: [SocketID] = []
  var isWatched = false

  // MARK: Entitlements
  var isLocating = false
  var launchDue: UInt64?
  var launchDueLate: UInt64 = 0

  // MARK: The current stay in the background (stint)
  var stintSince: UInt64 = 0
  var warnedAt: UInt64?
  var isLimitOver = false

  // MARK: Suspension
  var isStopping = false
  var isStopped = false
  var retryDue: UInt64?
  var retryDueLate: UInt64?
  /// The last instant at which the daemon found a process of the suspended instance running.
  var lostAt: UInt64?

  // MARK: End
  var ending: EndReason?
  var wasSuspendedAtEnd = false
  /// Whether an operator or the user has ordered the end.
  var isOrdered = false
  var terminateDue: UInt64?
  var terminateDueLate: UInt64 = 0
  var isKilled = false
  /// The callback whose missing acknowledgement caused the kill.
  var lateAtKill: CallbackKind?
  var killRetryDue: UInt64?

  // MARK: Use of resources in the background
  var priority = ProcessPriority.foreground
  var isSampled = false
  var throttledTo: Int?
  var wasThrottled = false
  /// The use of resources at the start of the measured window.
  var useWindow: (since: UInt64, processor: Duration, gpu: Duration)?
  /// The reason for which the daemon must kill the instance; nil if the instance violates no rule.
  var violatedRule: EndReason?
  /// Whether the daemon must throttle the instance.
  var isExcessive = false

  // MARK: Windows
  /// The windows that a session agent reports; nil if none is known.
  var window: ObservedWindow?
  var hadWindow = false
  /// Whether the lock of the screen interrupted the instance, and nothing has changed its state
  /// since.
  var isLockedOut = false
  /// Whether a phone call made the instance inactive, and nothing has changed its state since.
  var isCalledOut = false

  // MARK: Audio
  var audio = ObservedAudio()

  // MARK: Location
  /// The present authorization if the daemon has not told it to the application yet; otherwise nil.
  var heldAuthorization: LocationAuthorization?

  // MARK: Debuggers
  var askedAt: UInt64?
  var isTraced = false

  /// The last instant at which the limits of the instance may have restarted. `LateLimitChecker`
  /// counts every limit from this instant or later.
  var base: UInt64 = 0

  init(id: InstanceID, key: ApplicationKey, plan: Plan) {
    self.id = id
    self.key = key
    self.plan = plan
    isAware = plan.isAware
    hasStream = plan.isAware
  }

  /// Adds callbacks, in this order, after the outstanding ones. An unaware instance receives none.
  func expect(_ kinds: [CallbackKind], at now: UInt64) {
    guard isAware else { return }
    if outstanding.isEmpty { callbackSince = now }
    outstanding += kinds
  }

  /// Returns the instant at which the background time ends.
  func limit(_ limits: Limits) -> UInt64 {
    max(stintSince + limits.backgroundTime, (warnedAt ?? 0) + limits.expirationLead)
  }

  /// Whether the instance must still acknowledge its launch or its entry into the foreground.
  var mustAcknowledgeEntry: Bool {
    outstanding.contains(.didFinishLaunching) || outstanding.contains(.willEnterForeground)
  }

  /// Returns whether the instance is certainly entitled to run for a reason other than a background
  /// task.
  func isBusy(at now: UInt64) -> Bool {
    !outstanding.isEmpty || isEntitledByAudio || isLocating
      || launchDue.map { now < $0 } ?? false || eventDues.contains { now < $0 }
  }

  func callbackLimit(_ limits: Limits) -> UInt64 {
    outstanding.first == .keepAlive ? limits.keepAliveHandlerTime : limits.callbackTimeout
  }

  /// The reason for the end if the instance does not acknowledge the callback in flight.
  var reasonOfLimit: EndReason {
    outstanding.first == .keepAlive ? .keepAliveTimeout : .callbackTimeout
  }

  /// Whether a call of the keep-alive handler waits for the acknowledgement of another callback.
  var hasCallWaiting: Bool { outstanding.dropFirst().contains(.keepAlive) }

  func callbackDue(_ limits: Limits) -> UInt64? {
    outstanding.isEmpty ? nil : callbackSince + callbackLimit(limits)
  }

  /// Returns the latest instant until which the instance may handle an event, or nil if it handles
  /// none.
  func eventDueLate(_ limits: Limits) -> UInt64? {
    eventDues.map { max($0, base + limits.eventTime) }.max()
  }

  /// Restarts the limits of the handled events, because the instance could not run.
  func restartEventLimits(_ limits: Limits, at now: UInt64) {
    for index in handledEvents.indices {
      handledEvents[index].due = max(handledEvents[index].due, now + limits.eventTime)
    }
    if let due = unacknowledgedDue { unacknowledgedDue = max(due, now + limits.eventTime) }
  }

  /// Records that the instance may run for an event that it does not acknowledge.
  func runs(until due: UInt64) { unacknowledgedDue = max(unacknowledgedDue ?? 0, due) }

  /// Records that the instance received an event, possibly again.
  func received(_ id: CallbackID) {
    if handledEvents.contains(where: { $0.id == id }) { return }
    if let index = handledEvents.firstIndex(where: { $0.id == nil }) {
      handledEvents[index].id = id
    }
  }

  func hasTimeLeft(_ limits: Limits, at now: UInt64) -> Bool { isTraced || now < limit(limits) }

  /// Begins to end the instance, with this reason. An instance that is not suspended receives
  /// willTerminate. If it is active, it receives willResignActive before that. If a user or an
  /// operator terminates an instance that the daemon is already ending, that termination becomes
  /// the reason (contract.md#end-ordered).
  func end(_ reason: EndReason, at now: UInt64) {
    if let present = ending {
      if reason.isByPerson, !present.isByPerson { ending = reason }
      return
    }
    ending = reason
    isActivating = false
    wasSuspendedAtEnd = state == .suspended
    if !wasSuspendedAtEnd {
      expect(state == .active ? [.willResignActive, .willTerminate] : [.willTerminate], at: now)
    }
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
  let focusSettleTime: UInt64
  let hiddenGraceTime: UInt64
  let sessionGraceTime: UInt64
  let audioGraceTime: UInt64
  let audioSilenceTime: UInt64
  let audioMuteTime: UInt64
  let remoteReadTime: UInt64
  let remoteReadInterval: UInt64

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
    focusSettleTime = Nanoseconds.of(policy.focusSettleTime)
    hiddenGraceTime = Nanoseconds.of(policy.hiddenGraceTime)
    sessionGraceTime = Nanoseconds.of(policy.sessionGraceTime)
    audioGraceTime = Nanoseconds.of(policy.audioGraceTime)
    audioSilenceTime = Nanoseconds.of(policy.audioSilenceTime)
    audioMuteTime = Nanoseconds.of(policy.audioMuteTime)
    remoteReadTime = Nanoseconds.of(policy.remoteReadTime)
    remoteReadInterval = Nanoseconds.of(policy.remoteReadInterval)
  }
}

import TaskSchedulerCore

/// A violation that a checker found.
struct Finding: Error {
  let checker: String
  let sentence: String
}

/// A check of one property of the contract against all events and effects.
///
/// A checker derives the legal behavior from the contract and from ``ObservedState``. It does not
/// ask the scheduler, because it would then repeat the scheduler's errors.
protocol Checker {
  /// The name of the checker, which each of its violations contains.
  static var name: String { get }
  /// Examines an event. The observed state already includes the event, except in `RefusalChecker`.
  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding)
  /// Examines an effect before the observed state includes it.
  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding)
  /// Examines the observed state after all effects of an event.
  mutating func after(_ observed: ObservedState) throws(Finding)
  /// Examines the observed state when no work is outstanding.
  func checkFinalState(_ observed: ObservedState) throws(Finding)
}

extension Checker {
  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {}
  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {}
  mutating func after(_ observed: ObservedState) throws(Finding) {}
  func checkFinalState(_ observed: ObservedState) throws(Finding) {}

  func require(_ holds: Bool, _ sentence: @autoclosure () -> String) throws(Finding) {
    if holds { return }
    // Swift's description of a value contains the name of its module, which a reader does not need.
    let text = sentence().replacing("TaskSchedulerCore.", with: "")
    throw Finding(checker: Self.name, sentence: text)
  }
}

extension Event {
  /// The application that the event terminates at the request of a user or an operator.
  var terminatedApplication: ApplicationKey? {
    switch self {
    case .operation(.terminate(_, let key, _)), .switcher(.remove(_, let key, _)): key
    case .application, .operation, .process, .scheduler, .socket, .notification, .systemChanged,
      .session, .memory, .resources, .switcher, .location:
      nil
    }
  }
}

/// All checkers, and the observed state that they share.
public struct Checkers {
  private let observed: ObservedState
  private var transitions = TransitionChecker()
  private var callbacks = CallbackChecker()
  private var tasks = TaskChecker()
  private var early = EarlyLimitChecker()
  private var late: LateLimitChecker
  private var foreground = ForegroundChecker()
  private var suspension: SuspensionChecker
  private var ends = EndChecker()
  private var replies = ReplyChecker()
  private var refusals = RefusalChecker()
  private var release = ReleaseChecker()
  private var keepAlive: KeepAliveChecker
  private var bursts = BurstChecker()
  private var wakeUps = WakeChecker()
  private var sockets = SocketChecker()
  private var notifications: NotificationChecker
  private var changes = SystemChangeChecker()
  private var relaunch: RelaunchChecker
  private var memory = MemoryChecker()
  private var resources = ResourceChecker()
  private var focus = FocusChecker()
  private var visible: VisibleChecker
  private var hidden: HiddenChecker
  private var closed = ClosedChecker()
  private var lostAgents: LostAgentChecker
  private var locks = LockChecker()
  private var switcher = SwitcherChecker()
  private var audio: AudioEntitlementChecker
  private var mutes = MuteChecker()
  private var playerCalls: PlayerCallChecker
  private var mediaCommands = MediaCommandChecker()
  private var phoneCalls = CallChecker()
  private var audioSessions: AudioSessionChecker
  private var locationRequests = LocationRequestChecker()
  private var locationReports = LocationReportChecker()
  private var receivers: ReceiverChecker

  /// Creates the checkers of a run.
  ///
  /// - Parameters:
  ///   - policy: The policy at the start.
  ///   - timerDelayMax: The longest time from a deadline until its timer fires, in nanoseconds.
  public init(policy: Policy, timerDelayMax: UInt64) {
    observed = ObservedState(policy: policy)
    late = LateLimitChecker(slack: timerDelayMax)
    suspension = SuspensionChecker(slack: timerDelayMax)
    keepAlive = KeepAliveChecker(slack: timerDelayMax)
    notifications = NotificationChecker(slack: timerDelayMax)
    relaunch = RelaunchChecker(slack: timerDelayMax)
    visible = VisibleChecker(slack: timerDelayMax)
    hidden = HiddenChecker(slack: timerDelayMax)
    lostAgents = LostAgentChecker(slack: timerDelayMax)
    audio = AudioEntitlementChecker(slack: timerDelayMax)
    playerCalls = PlayerCallChecker(slack: timerDelayMax)
    audioSessions = AudioSessionChecker(slack: timerDelayMax)
    receivers = ReceiverChecker(slack: timerDelayMax)
  }

  var policy: Policy { observed.policy }
  /// The monitored regions of the applications that may learn the location. `isInside` tells
  /// whether the machine is in the region, as far as the scheduler knows.
  var monitoredRegions: [(key: ApplicationKey, region: Region, isInside: Bool?)] {
    observed.monitoredRegions
  }

  /// Records that the machine slept, or that the daemon was down. The daemon could not enforce any
  /// limit until now.
  mutating func machineWoke(at now: UInt64) { observed.machineWoke(at: now) }

  /// Returns the first violation by an event and its effects, or nil.
  mutating func check(_ event: Event, _ effects: [Effect], at now: UInt64) -> Finding? {
    do throws(Finding) {
      try run(event, effects, at: now)
      return nil
    } catch {
      return error
    }
  }

  private mutating func run(
    _ event: Event, _ effects: [Effect], at now: UInt64
  ) throws(Finding) {
    observed.now = now
    try refusals.before(event, observed)
    observed.begin(event, effects, at: now)
    try prepare(for: event)
    for effect in effects {
      try transitions.see(effect, observed)
      try callbacks.see(effect, observed)
      try tasks.see(effect, observed)
      try early.see(effect, observed)
      try foreground.see(effect, observed)
      try suspension.see(effect, observed)
      try ends.see(effect, observed)
      try replies.see(effect, observed)
      try refusals.see(effect, observed)
      try release.see(effect, observed)
      try keepAlive.see(effect, observed)
      try bursts.see(effect, observed)
      try wakeUps.see(effect, observed)
      try sockets.see(effect, observed)
      try notifications.see(effect, observed)
      try changes.see(effect, observed)
      try relaunch.see(effect, observed)
      try memory.see(effect, observed)
      try resources.see(effect, observed)
      try switcher.see(effect, observed)
      try seeSession(effect)
      try locationRequests.see(effect, observed)
      try locationReports.see(effect, observed)
      try receivers.see(effect, observed)
      observed.apply(effect)
    }
    observed.finish()
    try wakeUps.after(observed)
    try transitions.after(observed)
    try callbacks.after(observed)
    try late.after(observed)
    try foreground.after(observed)
    try suspension.after(observed)
    try ends.after(observed)
    try replies.after(observed)
    try refusals.after(observed)
    try release.after(observed)
    try keepAlive.after(observed)
    try bursts.after(observed)
    try sockets.after(observed)
    try notifications.after(observed)
    try changes.after(observed)
    try relaunch.after(observed)
    try memory.after(observed)
    try resources.after(observed)
    try switcher.after(observed)
    try checkSession()
    try locationRequests.after(observed)
    try locationReports.after(observed)
    try receivers.after(observed)
  }

  private mutating func prepare(for event: Event) throws(Finding) {
    try replies.before(event, observed)
    try bursts.before(event, observed)
    try wakeUps.before(event, observed)
    try sockets.before(event, observed)
    try notifications.before(event, observed)
    try changes.before(event, observed)
    try relaunch.before(event, observed)
    try memory.before(event, observed)
    try switcher.before(event, observed)
    try mutes.before(event, observed)
    try mediaCommands.before(event, observed)
    try phoneCalls.before(event, observed)
    try audioSessions.before(event, observed)
    try locationRequests.before(event, observed)
    try locationReports.before(event, observed)
  }

  private mutating func checkSession() throws(Finding) {
    try focus.after(observed)
    try visible.after(observed)
    try hidden.after(observed)
    try closed.after(observed)
    try lostAgents.after(observed)
    try locks.after(observed)
    try audio.after(observed)
    try mutes.after(observed)
    try playerCalls.after(observed)
    try mediaCommands.after(observed)
    try phoneCalls.after(observed)
    try audioSessions.after(observed)
  }

  private mutating func seeSession(_ effect: Effect) throws(Finding) {
    try focus.see(effect, observed)
    try visible.see(effect, observed)
    try hidden.see(effect, observed)
    try closed.see(effect, observed)
    try lostAgents.see(effect, observed)
    try locks.see(effect, observed)
    try audio.see(effect, observed)
    try mutes.see(effect, observed)
    try playerCalls.see(effect, observed)
    try mediaCommands.see(effect, observed)
    try phoneCalls.see(effect, observed)
    try audioSessions.see(effect, observed)
  }

  /// Returns the first violation at the end of the liveness phase, or nil.
  func checkSettled(at now: UInt64) -> Finding? {
    do throws(Finding) {
      try callbacks.checkFinalState(observed)
      try suspension.checkFinalState(observed)
      try ends.checkFinalState(observed)
      try replies.checkFinalState(observed)
      try keepAlive.checkFinalState(observed)
      try notifications.checkFinalState(observed)
      try locationRequests.checkFinalState(observed)
      return nil
    } catch {
      return error
    }
  }

  /// Returns the first violation after the scheduler has stopped, or nil.
  func checkStopped() -> Finding? {
    do throws(Finding) {
      try replies.checkFinalState(observed)
      try release.checkFinalState(observed)
      return nil
    } catch {
      return error
    }
  }
}

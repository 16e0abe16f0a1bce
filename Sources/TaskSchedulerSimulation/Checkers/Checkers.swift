import TaskSchedulerCore

/// A violation that a checker found.
struct Finding: Error {
  let checker: String
  let sentence: String
}

/// A check of one property of the contract against all events and effects.
///
/// A checker uses the contract and the ledger. It does not ask the scheduler.
protocol Checker {
  /// The name of the checker's violations.
  static var name: String { get }
  /// Examines an event before the ledger applies it.
  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding)
  /// Examines an effect before the ledger applies it.
  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding)
  /// Examines the ledger after all effects of an event.
  mutating func after(_ ledger: Ledger) throws(Finding)
  /// Examines the ledger when no work is outstanding.
  func settled(_ ledger: Ledger) throws(Finding)
}

extension Checker {
  mutating func before(_ event: Event, _ ledger: Ledger) throws(Finding) {}
  mutating func see(_ effect: Effect, _ ledger: Ledger) throws(Finding) {}
  mutating func after(_ ledger: Ledger) throws(Finding) {}
  func settled(_ ledger: Ledger) throws(Finding) {}

  func require(_ holds: Bool, _ sentence: @autoclosure () -> String) throws(Finding) {
    if holds { return }
    // Swift's text of a value names its module, which says nothing here.
    let text = sentence().replacing("TaskSchedulerCore.", with: "")
    throw Finding(checker: Self.name, sentence: text)
  }
}

/// All checkers, and the ledger that they share.
public struct Checkers {
  private var ledger: Ledger
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

  /// - Parameters:
  ///   - policy: what is in force at the start.
  ///   - timerDelayMax: how much later than its deadline a timer may fire, in nanoseconds.
  public init(policy: Policy, timerDelayMax: UInt64) {
    ledger = Ledger(policy: policy)
    late = LateLimitChecker(slack: timerDelayMax)
    suspension = SuspensionChecker(slack: timerDelayMax)
    keepAlive = KeepAliveChecker(slack: timerDelayMax)
    notifications = NotificationChecker(slack: timerDelayMax)
    relaunch = RelaunchChecker(slack: timerDelayMax)
  }

  var policy: Policy { ledger.policy }

  /// The machine slept, or the daemon was away: no limit could be enforced until now.
  mutating func machineWoke(at now: UInt64) { ledger.wakes(at: now) }

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
    ledger.now = now
    try refusals.before(event, ledger)
    ledger.begin(event, effects, at: now)
    try replies.before(event, ledger)
    try bursts.before(event, ledger)
    try wakeUps.before(event, ledger)
    try sockets.before(event, ledger)
    try notifications.before(event, ledger)
    try changes.before(event, ledger)
    try relaunch.before(event, ledger)
    try memory.before(event, ledger)
    for effect in effects {
      try transitions.see(effect, ledger)
      try callbacks.see(effect, ledger)
      try tasks.see(effect, ledger)
      try early.see(effect, ledger)
      try foreground.see(effect, ledger)
      try suspension.see(effect, ledger)
      try ends.see(effect, ledger)
      try replies.see(effect, ledger)
      try refusals.see(effect, ledger)
      try release.see(effect, ledger)
      try keepAlive.see(effect, ledger)
      try bursts.see(effect, ledger)
      try wakeUps.see(effect, ledger)
      try sockets.see(effect, ledger)
      try notifications.see(effect, ledger)
      try changes.see(effect, ledger)
      try relaunch.see(effect, ledger)
      try memory.see(effect, ledger)
      try resources.see(effect, ledger)
      ledger.apply(effect)
    }
    ledger.finish()
    try wakeUps.after(ledger)
    try transitions.after(ledger)
    try callbacks.after(ledger)
    try late.after(ledger)
    try foreground.after(ledger)
    try suspension.after(ledger)
    try ends.after(ledger)
    try replies.after(ledger)
    try refusals.after(ledger)
    try release.after(ledger)
    try keepAlive.after(ledger)
    try bursts.after(ledger)
    try sockets.after(ledger)
    try notifications.after(ledger)
    try changes.after(ledger)
    try relaunch.after(ledger)
    try memory.after(ledger)
    try resources.after(ledger)
  }

  /// At the end of the liveness phase.
  func checkSettled(at now: UInt64) -> Finding? {
    do throws(Finding) {
      try callbacks.settled(ledger)
      try suspension.settled(ledger)
      try ends.settled(ledger)
      try replies.settled(ledger)
      try keepAlive.settled(ledger)
      try notifications.settled(ledger)
      return nil
    } catch {
      return error
    }
  }

  /// After the scheduler's stop.
  func checkStopped() -> Finding? {
    do throws(Finding) {
      try replies.settled(ledger)
      try release.settled(ledger)
      return nil
    } catch {
      return error
    }
  }
}

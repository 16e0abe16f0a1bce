/// The state of an application's automatic relaunches.
struct Relaunch: Equatable, Sendable {
  /// The delay of the last planned relaunch; nil if none was planned.
  var delay: Duration?
  /// The instant at which the next relaunch is due; nil if none is planned.
  var dueAt: Instant?
  /// Whether the relaunch waits until memory pressure is over, because the scheduler terminated the
  /// application to free memory.
  var awaitsMemory = false
  /// Whether a user or an operator terminated the application. If so, the scheduler launches the
  /// application only at the request of a user or an operator.
  var isBarred = false

  /// Plans the next relaunch. Each delay is twice the previous one, at most `RelaunchDelayMax`.
  /// After the application has run for `RelaunchResetTime`, the delay is `RelaunchDelay` again.
  ///
  /// - Parameter ranFor: How long the application ran; nil if its launch failed.
  /// - Returns: The delay.
  mutating func plan(
    after ranFor: Duration?, awaitsMemory: Bool, _ policy: SharedPolicy, at now: Instant
  ) -> Duration {
    let isFresh = ranFor.map { $0 >= policy.relaunchResetTime } ?? false
    let next = isFresh ? policy.relaunchDelay : delay.map { $0 * 2 } ?? policy.relaunchDelay
    let wait = min(next, policy.relaunchDelayMax)
    delay = wait
    dueAt = now.advanced(by: wait)
    self.awaitsMemory = awaitsMemory
    return wait
  }
}

/// The planned relaunches, ordered by time.
struct RelaunchDeadlines: Sendable {
  private var timed = Deadlines<ApplicationKey>()
  /// The relaunches of applications that the scheduler terminated to free memory.
  private var awaitingMemory = Deadlines<ApplicationKey>()

  var all: [ApplicationKey] { timed.all + awaitingMemory.all }

  /// Returns the instant of the earliest relaunch; nil if there is none. Under memory pressure
  /// (`isPressed`), ignores the relaunches that wait for the end of the pressure.
  func next(isPressed: Bool) -> Instant? {
    isPressed ? timed.next : earlier(timed.next, awaitingMemory.next)
  }

  mutating func set(_ key: ApplicationKey, to relaunch: Relaunch?) {
    let awaitsMemory = relaunch?.awaitsMemory == true
    timed.set(key, to: awaitsMemory ? nil : relaunch?.dueAt)
    awaitingMemory.set(key, to: awaitsMemory ? relaunch?.dueAt : nil)
  }

  mutating func popDue(at now: Instant, isPressed: Bool) -> ApplicationKey? {
    timed.popDue(at: now) ?? (isPressed ? nil : awaitingMemory.popDue(at: now))
  }

  func isSet(_ key: ApplicationKey, to relaunch: Relaunch?) -> Bool {
    let awaitsMemory = relaunch?.awaitsMemory == true
    return timed.isSet(key, to: awaitsMemory ? nil : relaunch?.dueAt)
      && awaitingMemory.isSet(key, to: awaitsMemory ? relaunch?.dueAt : nil)
  }
}

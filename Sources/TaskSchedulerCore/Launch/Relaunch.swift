// Launches that nobody asks for: at the start, and after every end that neither the application
// (exit code 0) nor a person chose (contract §8).

/// How an application is brought back.
struct Relaunch: Hashable, Sendable {
  /// What the last relaunch waited for.
  var delay: Duration?
  /// When the next comes.
  var dueAt: Instant?
  /// It was ended for memory: it does not come back before memory pressure is over.
  var awaitsMemory = false
  /// A person has ended it: it comes back only when launched again.
  var isBarred = false

  /// Plans the next, each after twice the time of the one before.
  ///
  /// - Parameter ranFor: how long the application ran; nil where it could not be launched.
  /// - Returns: how long that waits.
  mutating func plan(
    after ranFor: Duration?, awaitsMemory: Bool, _ policy: Policy, at now: Instant
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

/// The relaunches that are planned, by their times.
struct RelaunchDeadlines: Sendable {
  private var timed = Deadlines<ApplicationKey>()
  /// Of those that were ended for memory.
  private var awaitingMemory = Deadlines<ApplicationKey>()

  var all: [ApplicationKey] { timed.all + awaitingMemory.all }

  /// The nearest that may come while memory is pressed, or is not.
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

extension Application {
  /// Whether it is launched without being asked for, for this user.
  fileprivate var isPersistent: Bool {
    guard let manifest, manifest.launchKey == key else { return false }
    return manifest.isLaunchable && manifest.multitasking
      && manifest.backgroundModes.contains(.voip)
  }
}

extension Scheduler {
  /// The daemon starts: whoever is to be reachable is launched.
  mutating func started(in turn: inout Turn) {
    isStarted = true
    guard policy.multitaskingSupported else { return }
    for application in applications.all {
      guard application.isPersistent, application.instance == nil, application.launching == nil
      else { continue }
      relaunch(application.key, reason: .boot, in: &turn)
    }
  }

  /// When the next relaunch is due. While the machine does not support multitasking, none is: it
  /// waits.
  var nextRelaunch: Instant? {
    policy.multitaskingSupported ? relaunches.next(isPressed: memory.episode != nil) : nil
  }

  /// Whether memory pressure goes on, which it waits for.
  func isHeldByMemory(_ relaunch: Relaunch) -> Bool {
    relaunch.awaitsMemory && memory.episode != nil
  }

  mutating func relaunchDue(in turn: inout Turn) {
    guard policy.multitaskingSupported else { return }
    let isPressed = memory.episode != nil
    while let key = relaunches.popDue(at: turn.instant, isPressed: isPressed) {
      applications.change(key) { $0.relaunch?.dueAt = nil }
      relaunch(key, reason: .relaunch, in: &turn)
    }
  }

  private mutating func relaunch(
    _ key: ApplicationKey, reason: LaunchReason, in turn: inout Turn
  ) {
    if applications[key]?.launching != nil {
      // A person launches it: should that fail, it is tried again.
      return planRelaunch(key, after: nil, in: &turn)
    }
    launch(nil, key, target: .background, reason: reason, in: &turn)
    guard let application = applications[key], application.launching == nil,
      application.instance == nil
    else { return }
    planRelaunch(key, after: nil, in: &turn)
  }

  /// An instance has ended: it comes back where its manifest says so and its end calls for it.
  mutating func relaunchIfCalledFor(
    _ instance: Instance, _ end: End, in turn: inout Turn
  ) {
    let key = instance.application
    switch end.reason {
    case .exited(code: 0):
      applications.change(key) { $0.relaunch = nil }
    case .terminatedByOperator, .terminatedByUser:
      applications.change(key) { $0.relaunch = Relaunch(isBarred: true) }
    case .exited, .crashed, .unknown, .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout,
      .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse:
      planRelaunch(
        key, after: instance.startedAt.duration(to: turn.instant),
        awaitsMemory: end.reason == .memoryPressure, in: &turn)
    case .optedOut, .schedulerStopped:
      break
    }
  }

  mutating func planRelaunch(
    _ key: ApplicationKey, after ranFor: Duration?, awaitsMemory: Bool = false,
    in turn: inout Turn
  ) {
    guard let application = applications[key], application.isPersistent,
      application.relaunch?.isBarred != true
    else { return }
    var relaunch = application.relaunch ?? Relaunch()
    let wait = relaunch.plan(
      after: ranFor, awaitsMemory: awaitsMemory, policy, at: turn.instant)
    applications.change(key) { $0.relaunch = relaunch }
    relaunches.set(key, to: relaunch)
    let change = Record.Change.relaunchPlanned(after: wait, awaitsMemory: awaitsMemory)
    turn.emit(.record(Record(application: key, leader: nil, change: change)))
  }

  /// A person ends an application that does not run: if it waits for its relaunch, that does not
  /// come. Answers with how it ended last, if it ever ran.
  mutating func terminateNotRunning(
    _ request: RequestID?, _ application: Application, in turn: inout Turn
  ) {
    let key = application.key
    if application.launching != nil {
      let refusal = Refusal.invalidTransition(from: .notRunning, cause: .terminate)
      return refuse(request, key, refusal, in: &turn)
    }
    if application.relaunch?.dueAt != nil {
      cancelRelaunch(key)
      applications.change(key) { $0.relaunch = Relaunch(isBarred: true) }
    }
    turn.reply(request, application.lastEnd.map { .ended($0) } ?? .done)
  }

  /// It runs, or its manifest no longer asks for it: no relaunch is due any more.
  mutating func cancelRelaunch(_ key: ApplicationKey) {
    guard applications[key]?.relaunch?.dueAt != nil else { return }
    applications.change(key) { $0.relaunch?.dueAt = nil }
    relaunches.set(key, to: nil)
  }

  /// Manifests have changed: who is no longer to come back, or is no longer known, does not.
  mutating func reconsiderRelaunches() {
    for key in relaunches.all where applications[key]?.isPersistent != true {
      cancelRelaunch(key)
      relaunches.set(key, to: nil)
    }
  }
}

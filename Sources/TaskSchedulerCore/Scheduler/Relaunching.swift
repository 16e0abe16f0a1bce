// Automatic launches (contract §8). The scheduler launches applications with mode `voip` when the
// daemon starts, and relaunches them when they end. It does not relaunch an application that exited
// with code 0, or whose end a user or an operator ordered.

extension Application {
  /// Whether the scheduler launches the application without a request: when the daemon starts, and
  /// after an end that requires a relaunch.
  fileprivate var isPersistent: Bool {
    guard let manifest, manifest.launchKey == key else { return false }
    return manifest.isLaunchable && manifest.multitasking
      && manifest.backgroundModes.contains(.voip)
  }
}

extension Scheduler {
  /// Launches the applications with mode `voip` when the daemon starts.
  mutating func started(in turn: inout Turn) {
    isStarted = true
    guard policy.multitaskingSupported else { return }
    for application in applications.all {
      guard application.isPersistent, application.instance == nil, application.launching == nil
      else { continue }
      relaunch(application.key, reason: .boot, in: &turn)
    }
  }

  /// The instant of the earliest relaunch. Without multitasking, the scheduler postpones all
  /// relaunches.
  var nextRelaunch: Instant? {
    policy.multitaskingSupported ? relaunches.next(isPressed: memory.episode != nil) : nil
  }

  /// Returns whether a relaunch waits until memory pressure is over.
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
      // Another launch, for example at the request of a user, is in progress. If that launch fails,
      // the scheduler relaunches the application.
      return planRelaunch(key, after: nil, in: &turn)
    }
    launch(nil, key, target: .background, reason: reason, in: &turn)
    guard let application = applications[key], application.launching == nil,
      application.instance == nil
    else { return }
    planRelaunch(key, after: nil, in: &turn)
  }

  /// Plans a relaunch of an ended application, if the manifest and the reason for the end require
  /// one.
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
    case .optedOut, .schedulerStopped, .released:
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

  /// Handles a request to terminate an application that does not run: cancels its relaunch. The
  /// reply describes the application's last end, if the application ever ran. Refuses the request
  /// while the application is being launched.
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

  /// Cancels the planned relaunch of an application, if there is one.
  mutating func cancelRelaunch(_ key: ApplicationKey) {
    guard applications[key]?.relaunch?.dueAt != nil else { return }
    applications.change(key) { $0.relaunch?.dueAt = nil }
    relaunches.set(key, to: nil)
  }

  /// Cancels the relaunches that the new manifests no longer require.
  mutating func reconsiderRelaunches() {
    for key in relaunches.all where applications[key]?.isPersistent != true {
      cancelRelaunch(key)
      relaunches.set(key, to: nil)
    }
  }
}

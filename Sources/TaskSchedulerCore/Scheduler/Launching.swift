// The start of applications (contract §2, §8). There are three ways: the scheduler launches a
// program, a running program registers itself as an application, or an operator or the daemon
// adopts a running process.

/// The way in which an instance starts.
struct StartPlan: Equatable, Sendable {
  var target: LaunchTarget
  var reason: LaunchReason
  var seat: SeatID
  var backgroundModes: [BackgroundMode]
  var mayStayInBackground: Bool
  var stopSignal = Signal.terminate
  var isAware = false
  var launchRegion: RegionID?
  /// The messages that the application receives when it opens its event stream.
  var inbox = Inbox()
}

/// A launch whose program has not been executed yet.
struct PendingLaunch: Equatable, Sendable {
  var request: RequestID?
  var application: ApplicationKey
  var plan: StartPlan
}

extension Scheduler {
  mutating func launch(
    _ request: RequestID?, _ key: ApplicationKey, target: LaunchTarget, reason: LaunchReason,
    in turn: inout Turn
  ) {
    guard let application = applications[key] else {
      return refuse(request, key, .unknownApplication(key), in: &turn)
    }
    if let refusal = refusalOfSecond(application) {
      return refuse(request, key, refusal, in: &turn)
    }
    guard let manifest = application.manifest, manifest.isLaunchable, manifest.launchKey == key
    else { return refuse(request, key, .notLaunchable, in: &turn) }
    if application.relaunch?.isBarred == true, !reason.isAskedFor {
      return refuse(request, key, .terminatedByOperator, in: &turn)
    }
    let plan = StartPlan(
      target: target, reason: reason, seat: manifest.seat,
      backgroundModes: manifest.backgroundModes, mayStayInBackground: manifest.multitasking,
      stopSignal: manifest.stopSignal,
      launchRegion: reason == .location ? launchRegion(of: key) : nil)
    if let refusal = refusalOfStart(key, plan, in: turn) {
      return refuse(request, key, refusal, in: &turn)
    }
    let id = newInstanceID()
    launches[id] = PendingLaunch(request: request, application: key, plan: plan)
    applications.launching(key, id)
    turn.emit(.spawn(id, key, reason: reason))
  }

  mutating func spawned(_ id: InstanceID, _ leader: Leader, in turn: inout Turn) {
    guard let launch = launches.removeValue(forKey: id) else { return }
    start(id, launch.application, leader, launch.plan, cause: .launch, in: &turn) { _, turn in
      turn.reply(launch.request, .started(id, leader))
    }
  }

  mutating func spawnFailed(_ id: InstanceID, reason: String, in turn: inout Turn) {
    guard let launch = launches.removeValue(forKey: id) else { return }
    let failure = LaunchFailure(reason: reason, at: turn.instant)
    applications.launchFailed(
      launch.application, failure, keeping: policy.endedApplicationsMax)
    leaveSwitcherIfGone(launch.application, in: &turn)
    refuse(launch.request, launch.application, .launchFailed(reason: reason), in: &turn)
    if launch.plan.reason == .boot || launch.plan.reason == .relaunch {
      planRelaunch(launch.application, after: nil, in: &turn)
    }
  }

  mutating func register(
    _ request: RequestID, _ key: ApplicationKey, _ leader: Leader, target: LaunchTarget,
    seat: SeatID, in turn: inout Turn
  ) {
    let manifest = applications.manifest(for: key)
    let plan = StartPlan(
      target: target, reason: .user, seat: manifest?.seatNamed ?? seat,
      backgroundModes: manifest?.backgroundModes ?? [],
      mayStayInBackground: manifest?.multitasking ?? true,
      stopSignal: manifest?.stopSignal ?? .terminate, isAware: true)
    if let refusal = refusalOfStart(key, plan, in: turn) {
      return refuse(request, key, refusal, in: &turn)
    }
    start(newInstanceID(), key, leader, plan, cause: .register, in: &turn) { instance, turn in
      turn.reply(request, .registered(instance.registration(turn)))
      instance.record(.registered, in: &turn)
    }
    tellWaiting(of: key, in: &turn)
  }

  mutating func openStream(
    _ request: RequestID, _ id: InstanceID, named name: ApplicationID, in turn: inout Turn
  ) {
    guard let key = instances[id]?.application else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    guard key.id == name else {
      return refuse(request, key, .wrongApplication(registeredAs: key.id), in: &turn)
    }
    updateInstance(id, in: &turn) { $0.openStream(request, in: &$1) }
    tellWaiting(of: key, in: &turn)
    // From now on, the media player `taskschedd` can represent the application.
    if sessions.audio[key.owner] != nil { presentPlayer(of: key.owner, in: &turn) }
  }

  mutating func adopt(_ request: RequestID, _ adoption: Adoption, in turn: inout Turn) {
    let key = adoption.application
    let manifest = applications.manifest(for: key)
    let plan = StartPlan(
      target: adoption.target, reason: adoption.reason,
      seat: manifest?.seatNamed ?? adoption.seat,
      backgroundModes: adoption.backgroundModes.isEmpty
        ? manifest?.backgroundModes ?? [] : adoption.backgroundModes,
      mayStayInBackground: manifest?.multitasking ?? true,
      stopSignal: manifest?.stopSignal ?? .terminate)
    if let refusal = refusalOfStart(key, plan, in: turn) {
      return refuse(request, key, refusal, in: &turn)
    }
    let id = newInstanceID()
    start(id, key, adoption.leader, plan, cause: .adopt, in: &turn) { instance, turn in
      turn.reply(request, .started(id, adoption.leader))
      guard let name = adoption.backgroundTask else { return }
      // The background task, not `LaunchTime`, entitles the instance to run.
      instance.stint?.launchEnds = nil
      instance.grantTask(name: name, request: nil, in: &turn)
    }
  }

  /// Returns the refusal of a second instance if the application runs or is being launched;
  /// otherwise nil.
  private func refusalOfSecond(_ application: Application?) -> Refusal? {
    if let running = application?.instance, let instance = instances[running] {
      return .alreadyRunning(pid: instance.leader.pid, state: instance.state)
    }
    if application?.launching != nil {
      return .invalidTransition(from: .notRunning, cause: .launch)
    }
    return nil
  }

  private func refusalOfStart(_ key: ApplicationKey, _ plan: StartPlan, in turn: Turn) -> Refusal? {
    if let refusal = refusalOfSecond(applications[key]) { return refusal }
    if plan.target == .background, !(plan.mayStayInBackground && policy.multitaskingSupported) {
      return .multitaskingNotSupported
    }
    guard applications.runningCount(of: key.owner) < policy.applicationsPerUserMax else {
      return .quotaExceeded(name: "MaxApplicationsPerUser", limit: policy.applicationsPerUserMax)
    }
    return nil
  }

  private mutating func newInstanceID() -> InstanceID {
    instanceIDLast += 1
    return InstanceID(instanceIDLast)
  }

  /// Starts an instance in its first state. Calls `afterTransition` before it sends the first
  /// callback.
  private mutating func start(
    _ id: InstanceID, _ key: ApplicationKey, _ leader: Leader, _ plan: StartPlan,
    cause: TransitionCause, in turn: inout Turn,
    afterTransition: (inout Instance, inout Turn) -> Void
  ) {
    applications.started(key, id)
    cancelRelaunch(key)
    if plan.reason.isAskedFor { applications.change(key) { $0.relaunch?.isBarred = false } }
    if plan.target == .foreground { vacate(plan.seat, for: key, in: &turn) }
    instances[id] = Instance(
      id: id, application: key, leader: leader, plan: plan, policy: policy, at: turn.instant)
    instances[id]?.inbox.changesDelivered = changes.numberLast
    turn.emit(.manage(id, leader, key))
    updateInstance(id, in: &turn) { instance, turn in
      instance.reasons.moved(to: instance.state, cause)
      instance.record(
        .transition(from: .notRunning, to: instance.state, cause: cause), in: &turn)
      instance.prioritize(
        from: .foreground, to: instance.priority(in: instance.state), in: &turn)
      afterTransition(&instance, &turn)
      instance.enqueue([.didFinishLaunching], in: &turn)
      instance.deliverMemoryWarning(in: &turn)
      instance.reconsider(in: &turn)
    }
    if instances[id]?.isAtSeat == true { seats.enter(plan.seat, id) }
    if instances[id]?.state == .active { applications.becameActive(key) }
  }
}

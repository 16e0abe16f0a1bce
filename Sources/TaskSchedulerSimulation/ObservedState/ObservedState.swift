import TaskSchedulerCore

/// The state of the applications as the checkers derive it from events and effects.
///
/// This is a class so that the checkers, which all examine it at each event, share one copy.
final class ObservedState {
  private(set) var policy: Policy
  private(set) var limits: Limits
  private(set) var manifests: [Manifest] = []
  /// The instances, by number; nil for an instance that has ended.
  private var instances: [ObservedInstance?] = []
  private(set) var live: [ObservedInstance] = []
  private(set) var byKey: [ApplicationKey: ObservedInstance] = [:]
  /// The launches whose program has not been executed yet.
  var launches: [InstanceID: Launch] = [:]
  /// Applications that a user or operator ended, and that have not run since then.
  var barred: Set<ApplicationKey> = []
  /// Applications like those in ``barred``, but without a manifest. The scheduler may have
  /// forgotten them.
  var possiblyBarred: Set<ApplicationKey> = []
  /// Applications that wait for their relaunch.
  private(set) var relaunching: Set<ApplicationKey> = []
  var sessions = ObservedSessions()
  var audio = ObservedAudioSessions()
  var players = ObservedPlayers()
  var calls = ObservedCalls()
  var location = ObservedLocations()
  var now: UInt64 = 0
  /// The last instant at which the machine woke, the daemon restarted or the limits changed. A
  /// limit that was already due could not be enforced before this instant.
  var floor: UInt64 = 0

  // The current event.
  private(set) var event = Event.scheduler(.deadlineReached)
  private(set) var isRefused = false
  /// Whether the event acknowledges an outstanding callback or ends an outstanding task.
  private(set) var isExpected = false
  private var newPlan: ObservedInstance.Plan?

  struct Launch {
    let key: ApplicationKey
    var plan: ObservedInstance.Plan
    let request: RequestID?
  }

  init(policy: Policy) {
    self.policy = policy
    limits = Limits(policy)
  }

  subscript(id: InstanceID) -> ObservedInstance? {
    id.number < UInt64(instances.count) ? instances[Int(id.number)] : nil
  }

  func manifest(for key: ApplicationKey) -> Manifest? {
    manifests.first { $0.id == key.id && (!$0.namesUser || $0.owner == key.owner) }
  }

  /// Records that the machine slept, or that the daemon was down.
  func machineWoke(at now: UInt64) {
    floor = now
    for instance in live { tolerateRestart(of: instance, at: now) }
  }

  /// Postpones the latest instants at which the daemon may enforce the limits of an instance, as if
  /// the limits began now.
  func tolerateRestart(of instance: ObservedInstance, at now: UInt64) {
    instance.base = now
    instance.terminateDueLate = max(instance.terminateDueLate, now + limits.terminateTimeout)
    instance.launchDueLate = max(instance.launchDueLate, now + limits.launchTime)
  }

  // MARK: Events

  private func register(_ key: ApplicationKey, _ event: Event) {
    planInstance(event)
    location.mustTell.insert(key)
  }

  func begin(_ event: Event, _ effects: [Effect], at now: UInt64) {
    self.now = now
    self.event = event
    newPlan = nil
    sessions.begin()
    audio.begin()
    players.begin()
    calls.begin()
    location.begin()
    isExpected = false
    isRefused = event.request.map { request in
      effects.contains {
        if case .reply(request, .refused) = $0 { true } else { false }
      }
    } ?? false
    switch event {
    case .application(.register(_, let key, _, _, _)): if !isRefused { register(key, event) }
    case .application(.openStream(_, let id, _)): streamOpened(id)
    case .operation(.adopt), .process(.spawned): if !isRefused { planInstance(event) }
    case .application(.streamClosed(let id)): self[id]?.hasStream = false
    case .application(.acknowledge(_, let id, let callback)): acknowledged(id, callback)
    case .application(.endBackgroundTask(_, let id, let task)): ended(id, task)
    case .application(.beginCall(_, let id)): beginCall(id)
    case .application(.endCall(_, let id)): endCall(id)
    case .application(.setAudioSession(_, let id, let session)): setAudioSession(id, session)
    case .operation(.activate(_, let key)):
      if !isRefused, let instance = byKey[key], instance.state != .active { activate(instance) }
    case .operation(.deactivate(_, let key)): if !isRefused { deactivated(key) }
    case .operation(.remoteControl(_, let user, _)):
      let hasAgent = canCommand(user)
      players.receiver = lastAudible(of: user) {
        $0.isOnBus ? hasAgent : $1.takesRemoteControl
      }
    case .operation(.sendToBackground(_, let key)):
      if !isRefused, let instance = byKey[key], instance.state.isForeground {
        sendToBackground(instance)
      }
    case .operation(.terminate(_, let key, let byUser)):
      if !isRefused { terminated(key, byUser: byUser) }
    case .switcher(.remove(_, let key, let byUser)):
      if !isRefused { terminated(key, byUser: byUser) }
    case .scheduler(.policyChanged(let policy)): change(policy)
    case .scheduler(.manifestsChanged(let manifests)):
      self.manifests = manifests
      relaunching = relaunching.filter { key in
        manifests.contains {
          $0.id == key.id && $0.owner == key.owner && $0.isLaunchedAutomatically
        }
      }
      // The scheduler may forget applications without a manifest.
      possiblyBarred.formUnion(barred.filter { manifest(for: $0) == nil })
      barred.subtract(possiblyBarred)
      locationManifestsChanged()
    case .socket(let event): apply(event)
    case .notification(.chosen(_, let key)): notificationChosen(key)
    case .scheduler(.stop):
      relaunching = []
      forgetCalls()
    case .application, .notification, .systemChanged, .operation(.launch),
      .scheduler(.clockRead), .scheduler(.started), .memory, .switcher:
      break
    case .scheduler(.deadlineReached): deadlineReached()
    case .session(let event): apply(event)
    case .location(let event): apply(event)
    case .resources(let event): apply(event)
    case .process, .scheduler(.recovered): report(event)
    }
  }

  private func deadlineReached() {
    audioDeadlineReached()
    readDeadlineReached()
    audioSessionsDue()
    sessionDeadlineReached()
    lookDeadlineReached()
  }

  private func report(_ event: Event) {
    switch event {
    case .process(.spawnFailed(let id, _)):
      launches[id] = nil
      location.forget(id)
    case .process(.suspensionCompleted(let id)): stopped(id)
    case .process(.stillSuspended(let ids)):
      for id in ids where self[id]?.state == .suspended { stopped(id) }
    case .process(.suspensionFailed(let id, _)):
      guard let instance = self[id], instance.isStopping else { return }
      instance.isStopping = false
      instance.isStopped = false
      instance.retryDue = now + limits.suspendRetryInterval
      instance.retryDueLate = instance.retryDue
    case .process(.suspensionLost(let id, _)):
      if let instance = self[id] { suspensionLost(instance) }
    case .process(.signalFailed(let id, _)):
      if let instance = self[id], instance.isKilled {
        instance.killRetryDue = now + limits.terminateTimeout
      }
    case .process(.tracerChecked(let id, let isTraced)):
      if let instance = self[id] { tracerChecked(instance, isTraced: isTraced) }
    case .scheduler(.recovered):
      floor = now
      sessionsRecovered()
      audioRecovered()
      looksRecovered()
      for instance in live {
        restartLimits(instance)
        instance.askedAt = nil
        instance.isWatched = false
        instance.useWindow = nil
      }
    case .application, .socket, .operation, .notification, .systemChanged, .session,
      .process(.spawned), .process(.released),
      .process(.leaderExited), .scheduler(.deadlineReached), .scheduler(.clockRead),
      .scheduler(.policyChanged), .scheduler(.manifestsChanged), .scheduler(.started),
      .scheduler(.stop), .memory, .resources, .switcher, .location:
      break
    }
  }

  private func stopped(_ id: InstanceID) {
    guard let instance = self[id], instance.isStopping else { return }
    instance.isStopping = false
    instance.isStopped = true
  }

  /// Determines the plan of the instance that the scheduler creates at this event.
  private func planInstance(_ event: Event) {
    if case .application(.register(_, let key, _, let target, let seat)) = event {
      newPlan = plan(key, target, .user, seat: seat)
      newPlan?.isAware = true
    } else if case .operation(.adopt(_, let adoption)) = event {
      var plan = plan(adoption.application, adoption.target, adoption.reason, seat: adoption.seat)
      if !adoption.backgroundModes.isEmpty { plan.modes = adoption.backgroundModes }
      plan.task = adoption.backgroundTask
      newPlan = plan
    } else if case .process(.spawned(let id, _)) = event {
      newPlan = launches[id]?.plan
    }
    if let newPlan, newPlan.target == .foreground { vacate(newPlan.seat, for: nil) }
  }

  private func terminated(_ key: ApplicationKey, byUser: Bool) {
    if let instance = byKey[key] {
      endOrdered(instance)
      return instance.end(byUser ? .terminatedByUser : .terminatedByOperator, at: now)
    }
    // The application does not run. The termination cancels a pending relaunch, or changes nothing.
    if relaunching.remove(key) != nil { bar(key) }
  }

  private func bar(_ key: ApplicationKey) {
    if manifest(for: key) == nil { possiblyBarred.insert(key) } else { barred.insert(key) }
  }

  private func plan(
    _ key: ApplicationKey, _ target: LaunchTarget, _ reason: LaunchReason, seat: SeatID
  ) -> ObservedInstance.Plan {
    let manifest = manifest(for: key)
    return ObservedInstance.Plan(
      target: target, reason: reason,
      seat: manifest.flatMap { $0.namesSeat ? $0.seat : nil } ?? seat,
      modes: manifest?.backgroundModes ?? [], mayStay: manifest?.multitasking ?? true,
      stopSignal: manifest?.stopSignal ?? .terminate)
  }

  private func acknowledged(_ id: InstanceID, _ callback: CallbackID) {
    guard let instance = self[id] else { return }
    // Reports may have waited for the acknowledgement.
    location.mustTell.insert(instance.key)
    if let index = instance.handledEvents.firstIndex(where: { $0.id == callback }) {
      isExpected = true
      instance.handledEvents.remove(at: index)
      if instance.playEvents.contains(callback), instance.state == .background,
        instance.ending == nil, instance.mayPlay
      {
        instance.runs(until: now + limits.audioGraceTime)
      }
      return
    }
    guard instance.inFlight == callback else { return }
    isExpected = true
    instance.inFlight = nil
    instance.outstanding.removeFirst()
    instance.callbackSince = now
  }

  private func ended(_ id: InstanceID, _ task: TaskID) {
    guard let instance = self[id], let index = instance.tasks.firstIndex(where: { $0.id == task })
    else { return }
    isExpected = true
    instance.tasks.remove(at: index)
  }

  private func change(_ policy: Policy) {
    self.policy = policy
    limits = Limits(policy)
    floor = now
    for instance in live where instance.state == .background {
      instance.isLimitOver = instance.limit(limits) <= now
    }
  }
}

// MARK: Effects

extension ObservedState {
  /// Finishes an event. If an instance has become entitled to run, cancels the next attempt to
  /// suspend it.
  func finish() {
    noteSilence()
    noteOrderedMutes()
    lookEarly()
    for instance in live where instance.retryDue != nil {
      let mayRun =
        instance.isBusy(at: now)
        || !instance.tasks.isEmpty && instance.hasTimeLeft(limits, at: now)
      if instance.state != .background || instance.ending != nil || mayRun {
        instance.retryDue = nil
      }
    }
  }
}

extension ObservedState {
  func apply(_ effect: Effect) {
    switch effect {
    case .reply(_, .registered(let registration)): registered(registration.instance)
    case .notification(.fire): location.hasWoken = true
    case .reply, .expire, .notification, .memory, .dropPicture: break
    case .notify(let id, let notice):
      switch notice {
      case .socketsReady(let event, _), .remoteControl(let event, _),
        .audioInterruption(let event, _), .call(let event, _):
        self[id]?.received(event)
      case .significantChange(let event, _), .region(let event, _, _):
        if let instance = self[id] { told(event, instance) }
      case .locationAuthorization: self[id]?.heldAuthorization = nil
      case .systemChanges, .notificationFired, .notificationChosen, .memoryWarning, .location:
        break
      }
      switch notice {
      case .remoteControl(let event, _), .audioInterruption(let event, .ended(shouldResume: true)):
        self[id]?.playEvents.insert(event)
      case .audioInterruption, .call, .socketsReady, .systemChanges, .notificationFired,
        .notificationChosen, .memoryWarning, .location, .significantChange, .region,
        .locationAuthorization:
        break
      }
    case .socket(let effect): apply(effect)
    case .deliver(let id, let callback, _):
      self[id]?.inFlight = callback.id
      self[id]?.callbackLast = callback.id.number
    case .spawn(let id, let key, let reason): spawn(id, key, reason)
    case .manage(let id, _, let key): manage(id, key)
    case .suspend(let id):
      self[id]?.isStopping = true
      self[id]?.audio.muteDue = nil
      self[id]?.retryDue = nil
    case .resume(let id):
      self[id]?.isStopping = false
      self[id]?.isStopped = false
    case .terminate(let id, _):
      self[id]?.terminateDue = now + limits.terminateTimeout
      self[id]?.terminateDueLate = now + limits.terminateTimeout
    case .kill(let id): if let instance = self[id] { kill(instance) }
    case .release(let id, _): release(id)
    case .resources(let effect): apply(effect)
    case .audio(let effect): apply(effect)
    case .remote(let effect): apply(effect)
    case .location(let effect): apply(effect)
    case .checkTracer(let id): if let instance = self[id] { askedForTracer(of: instance) }
    case .record(let record): note(record)
    }
  }

  private func registered(_ id: InstanceID) {
    guard let instance = self[id] else { return }
    let wasAware = instance.hasRegistered
    instance.hasRegistered = true
    instance.isAware = true
    instance.hasStream = true
    instance.launchDue = nil
    if !wasAware, instance.ending == nil {
      instance.expect([.didFinishLaunching], at: now)
    }
  }

  private func spawn(_ id: InstanceID, _ key: ApplicationKey, _ reason: LaunchReason) {
    if reason == .relaunch { relaunching.remove(key) }
    guard launches[id] == nil, let manifest = manifest(for: key) else { return }
    var target = LaunchTarget.foreground
    if case .operation(.launch(_, _, let wanted, _)) = event { target = wanted }
    if case .scheduler(.started) = event { target = .background }
    if case .session(.incomingCall) = event { target = .background }
    if case .location = event { target = .background }
    if case .scheduler(.deadlineReached) = event { target = .background }
    if reason == .location { locationLaunched(id, key) }
    launches[id] = Launch(
      key: key,
      plan: ObservedInstance.Plan(
        target: target, reason: reason, seat: manifest.seat, modes: manifest.backgroundModes,
        mayStay: manifest.multitasking, stopSignal: manifest.stopSignal),
      request: event.request)
  }

  private func manage(_ id: InstanceID, _ key: ApplicationKey) {
    guard let plan = newPlan else { return }
    let instance = ObservedInstance(id: id, key: key, plan: plan)
    while instances.count <= Int(id.number) { instances.append(nil) }
    instances[Int(id.number)] = instance
    live.append(instance)
    byKey[key] = instance
    launches[id] = nil
    relaunching.remove(key)
    if ![.boot, .relaunch, .location, .call].contains(plan.reason) {
      barred.remove(key)
      possiblyBarred.remove(key)
    }
    if plan.target == .background, !plan.isAware, plan.task == nil {
      instance.launchDue = now + limits.launchTime
      instance.launchDueLate = now + limits.launchTime
    }
  }

  private func release(_ id: InstanceID) {
    guard let instance = self[id] else { return }
    instances[Int(id.number)] = nil
    live.removeAll { $0 === instance }
    byKey[instance.key] = nil
    returnVolumes(of: instance)
    players.all[id] = nil
    location.forget(id)
    // The scheduler remembers an application without a manifest only while the application uses a
    // location service.
    if manifest(for: instance.key) == nil, location.applications[instance.key] != nil {
      location.change(instance.key) { if !$0.monitors { $0.wasTold = false } }
    }
    audioOwnerEnded(id, of: instance.key.owner)
  }

  private func note(_ record: Record) {
    if case .ended(let end) = record.change, end.reason.isByPerson { bar(record.application) }
    if case .relaunchPlanned = record.change { relaunching.insert(record.application) }
    guard let instance = byKey[record.application] else { return }
    if case .transition(let from, let to, let cause) = record.change {
      move(instance, from: from, to: to)
      instance.isActivating = to == .inactive && cause.leadsToActive
      instance.isLockedOut = cause == .locked
      instance.isCalledOut = cause == .call && to == .inactive
      if !instance.isActiveOrActivating { instance.window?.unfocusedSince = nil }
      if !to.isForeground { instance.window?.hold() }
      if cause == .closed { instance.runs(until: now + limits.eventTime) }
    }
    if case .taskBegan(let task, _, _) = record.change {
      instance.tasks.append((task, false))
      instance.taskLast = task.number
    }
    if case .taskExpired(let task, _) = record.change,
      let index = instance.tasks.firstIndex(where: { $0.id == task })
    {
      instance.tasks[index].isExpired = true
    }
    if case .keepAliveCalled = record.change {
      instance.expect([.keepAlive], at: now)
      location.hasWoken = true
    }
    if case .memoryChosen = record.change { instance.end(.memoryPressure, at: now) }
    if case .socketsReady = record.change {
      instance.handledEvents.append((nil, now + limits.eventTime))
    }
    if case .remoteControlled = record.change { noteCommand(instance) }
    if case .audioInterrupted(let by) = record.change {
      instance.audio.recordedInterrupter = by
      if by == nil { noteEndOfInterruption(of: instance) }
    }
  }

  private func move(_ instance: ObservedInstance, from: ApplicationState, to: ApplicationState) {
    instance.state = to
    if to != .suspended { instance.audio.isSilent = false }
    if from == .background {
      if to != .notRunning {
        for index in instance.tasks.indices { instance.tasks[index].isExpired = false }
      }
      (instance.useWindow, instance.isSampled, instance.wasThrottled) = (nil, false, false)
    }
    if to != .background { instance.launchDue = nil }
    if to == .background {
      instance.endGraceIfDue(at: now)
      instance.stintSince = now
      instance.warnedAt = nil
      instance.isLimitOver = false
    }
    switch to {
    case .active: if from == .inactive { instance.expect([.didBecomeActive], at: now) }
    case .inactive:
      if from == .active { instance.expect([.willResignActive], at: now) }
      if from == .background || from == .suspended {
        instance.expect([.willEnterForeground], at: now)
      }
    case .background:
      if from == .active { instance.expect([.willResignActive], at: now) }
      if from.isForeground { instance.expect([.didEnterBackground], at: now) }
    case .suspended: if from == .background { instance.isStopped = true }
    case .notRunning: break
    }
  }
}

import TaskSchedulerCore

/// The state of the applications as the checkers derive it from events and effects.
struct Ledger {
  private(set) var policy: Policy
  private(set) var limits: Limits
  private(set) var manifests: [Manifest] = []
  /// The live instances, by number.
  private(set) var sightings: [Sighting?] = []
  private(set) var live: [Sighting] = []
  private(set) var byKey: [ApplicationKey: Sighting] = [:]
  /// Launches whose program has not been executed, with the request that waits for each.
  var launches: [InstanceID: Launch] = [:]
  /// Applications that a user or operator ended, and that were not launched since.
  var barred: Set<ApplicationKey> = []
  /// Barred applications without a manifest, which the scheduler may have forgotten.
  var perhapsBarred: Set<ApplicationKey> = []
  /// Applications that wait for their relaunch.
  private(set) var relaunching: Set<ApplicationKey> = []
  var now: UInt64 = 0
  /// The earliest instant at which a timer could fire after sleep, a restart or changed limits.
  var floor: UInt64 = 0

  // The current event.
  private(set) var event = Event.scheduler(.deadlineReached)
  private(set) var isRefused = false
  /// Whether what an application reported was right.
  private(set) var isExpected = false
  private var newcomer: Sighting.Plan?

  struct Launch {
    let key: ApplicationKey
    var plan: Sighting.Plan
    let request: RequestID?
  }

  init(policy: Policy) {
    self.policy = policy
    limits = Limits(policy)
  }

  subscript(id: InstanceID) -> Sighting? {
    id.number < UInt64(sightings.count) ? sightings[Int(id.number)] : nil
  }

  func manifest(for key: ApplicationKey) -> Manifest? {
    manifests.first { $0.id == key.id && (!$0.namesUser || $0.owner == key.owner) }
  }

  /// Returns the foreground application of a seat.
  func front(of seat: SeatID) -> Sighting? {
    live.first { $0.state.isForeground && $0.ending == nil && $0.plan.seat == seat }
  }

  /// The machine slept, or the daemon was away.
  mutating func wakes(at now: UInt64) {
    floor = now
    for sighting in live { startAnew(sighting, at: now) }
  }

  /// The latest moments from which its limits may count.
  func startAnew(_ sighting: Sighting, at now: UInt64) {
    sighting.base = now
    sighting.terminateDueLate = max(sighting.terminateDueLate, now + limits.terminateTimeout)
    sighting.launchDueLate = max(sighting.launchDueLate, now + limits.launchTime)
  }

  // MARK: What goes in

  mutating func begin(_ event: Event, _ effects: [Effect], at now: UInt64) {
    self.now = now
    self.event = event
    newcomer = nil
    isExpected = false
    isRefused = event.requester.map { request in
      effects.contains {
        if case .reply(request, .refused) = $0 { true } else { false }
      }
    } ?? false
    switch event {
    case .application(.register), .operation(.adopt), .process(.spawned):
      if !isRefused { arrive(event) }
    case .application(.streamClosed(let id)): self[id]?.hasStream = false
    case .application(.acknowledge(_, let id, let callback)): acknowledged(id, callback)
    case .application(.endBackgroundTask(_, let id, let task)): ended(id, task)
    case .operation(.activate(_, let key)):
      if !isRefused, let sighting = byKey[key], sighting.state != .active { activate(sighting) }
    case .operation(.deactivate(_, let key)): if !isRefused { byKey[key]?.isRising = false }
    case .operation(.sendToBackground(_, let key)):
      if !isRefused, let sighting = byKey[key], sighting.state.isForeground { sendAway(sighting) }
    case .operation(.terminate(_, let key, let byUser)):
      if !isRefused { terminated(key, byUser: byUser) }
    case .scheduler(.policyChanged(let policy)): change(policy)
    case .scheduler(.manifestsChanged(let manifests)):
      self.manifests = manifests
      relaunching = relaunching.filter { key in
        manifests.contains { $0.id == key.id && $0.owner == key.owner && $0.bringsBack }
      }
      // Without a manifest it may be forgotten.
      perhapsBarred.formUnion(barred.filter { manifest(for: $0) == nil })
      barred.subtract(perhapsBarred)
    case .socket(let event): take(event)
    case .notification(.chosen(_, let key)): chosen(key)
    case .scheduler(.stop): relaunching = []
    case .application(.openStream), .application(.beginBackgroundTask), .application(.setKeepAlive),
      .notification, .systemChanged, .operation(.launch),
      .scheduler(.deadlineReached), .scheduler(.clockRead), .scheduler(.started), .memory:
      break
    case .resources(let event): found(event)
    case .process(.spawnFailed), .process(.leaderExited), .process(.suspensionCompleted),
      .process(.stillSuspended), .process(.suspensionFailed),
      .process(.suspensionLost), .process(.signalFailed), .process(.tracerChecked),
      .process(.activityBegan), .process(.activityEnded), .scheduler(.recovered):
      report(event)
    }
  }

  private mutating func report(_ event: Event) {
    switch event {
    case .process(.spawnFailed(let id, _)): launches[id] = nil
    case .process(.suspensionCompleted(let id)): stopped(id)
    case .process(.stillSuspended(let ids)):
      for id in ids where self[id]?.state == .suspended { stopped(id) }
    case .process(.suspensionFailed(let id, _)):
      guard let sighting = self[id], sighting.isStopping else { return }
      sighting.isStopping = false
      sighting.isStopped = false
      sighting.retryDue = now + limits.suspendRetryInterval
      sighting.retryDueLate = sighting.retryDue
    case .process(.suspensionLost(let id, _)): if let sighting = self[id] { lost(sighting) }
    case .process(.signalFailed(let id, _)):
      if let sighting = self[id], sighting.isKilled {
        sighting.killRetryDue = now + limits.terminateTimeout
      }
    case .process(.tracerChecked(let id, let isTraced)):
      if let sighting = self[id] { looked(sighting, isTraced: isTraced) }
    case .process(.activityBegan(let id, let activity)): set(activity, of: id, 1)
    case .process(.activityEnded(let id, let activity)): set(activity, of: id, -1)
    case .scheduler(.recovered(let lastAlive)):
      floor = now
      for sighting in live {
        forgive(sighting, since: lastAlive.nanoseconds)
        sighting.isWatched = false
        sighting.stretch = nil
      }
    case .application, .socket, .operation, .notification, .systemChanged, .process(.spawned),
      .process(.leaderExited), .scheduler(.deadlineReached), .scheduler(.clockRead),
      .scheduler(.policyChanged), .scheduler(.manifestsChanged), .scheduler(.started),
      .scheduler(.stop), .memory, .resources:
      break
    }
  }

  private func stopped(_ id: InstanceID) {
    guard let sighting = self[id], sighting.isStopping else { return }
    sighting.isStopping = false
    sighting.isStopped = true
  }

  private mutating func arrive(_ event: Event) {
    switch event {
    case .application(.register(_, let key, _, let target, let seat)):
      newcomer = plan(key, target, .user, seat: seat)
      newcomer?.isAware = true
    case .operation(.adopt(_, let adoption)):
      var plan = plan(adoption.application, adoption.target, .operator, seat: adoption.seat)
      if !adoption.backgroundModes.isEmpty { plan.modes = adoption.backgroundModes }
      plan.task = adoption.backgroundTask
      newcomer = plan
    case .process(.spawned(let id, _)): newcomer = launches[id]?.plan
    case _: break
    }
    if let newcomer, newcomer.target == .foreground { vacate(newcomer.seat, for: nil) }
  }

  private mutating func terminated(_ key: ApplicationKey, byUser: Bool) {
    if let sighting = byKey[key] {
      order(sighting)
      return sighting.end(byUser ? .terminatedByUser : .terminatedByOperator, at: now)
    }
    // What does not wait for its relaunch stays as it is.
    if relaunching.remove(key) != nil { bar(key) }
  }

  private mutating func bar(_ key: ApplicationKey) {
    if manifest(for: key) == nil { perhapsBarred.insert(key) } else { barred.insert(key) }
  }

  private func plan(
    _ key: ApplicationKey, _ target: LaunchTarget, _ reason: LaunchReason, seat: SeatID
  ) -> Sighting.Plan {
    let manifest = manifest(for: key)
    return Sighting.Plan(
      target: target, reason: reason,
      seat: manifest.flatMap { $0.namesSeat ? $0.seat : nil } ?? seat,
      modes: manifest?.backgroundModes ?? [], mayStay: manifest?.multitasking ?? true,
      stopSignal: manifest?.stopSignal ?? .terminate)
  }

  /// Makes an instance the foreground application of its seat.
  func activate(_ sighting: Sighting) {
    vacate(sighting.plan.seat, for: sighting)
    if sighting.state == .inactive { sighting.isRising = true }
  }

  /// Sends the foreground application of a seat to the background.
  private func vacate(_ seat: SeatID, for other: Sighting?) {
    if let sighting = front(of: seat), sighting !== other { sendAway(sighting) }
  }

  private func sendAway(_ sighting: Sighting) {
    if !sighting.plan.mayStay || !policy.multitaskingSupported { sighting.end(.optedOut, at: now) }
  }

  private mutating func acknowledged(_ id: InstanceID, _ callback: CallbackID) {
    guard let sighting = self[id] else { return }
    if let index = sighting.handled.firstIndex(where: { $0.id == callback }) {
      isExpected = true
      sighting.handled.remove(at: index)
      return
    }
    guard sighting.inFlight == callback else { return }
    isExpected = true
    sighting.inFlight = nil
    sighting.owed.removeFirst()
    sighting.callbackSince = now
  }

  private mutating func ended(_ id: InstanceID, _ task: TaskID) {
    guard let sighting = self[id], let index = sighting.tasks.firstIndex(where: { $0.id == task })
    else { return }
    isExpected = true
    sighting.tasks.remove(at: index)
  }

  private func set(_ activity: Activity, of id: InstanceID, _ change: Int) {
    guard let sighting = self[id] else { return }
    switch activity {
    case .audio:
      if change < 0 || sighting.plan.modes.contains(.audio) { sighting.isPlaying = change > 0 }
    case .location:
      if change < 0 || sighting.plan.modes.contains(.location) {
        sighting.isLocating = change > 0
      }
    case .event: sighting.eventCount = max(0, sighting.eventCount + change)
    }
  }

  private mutating func change(_ policy: Policy) {
    self.policy = policy
    limits = Limits(policy)
    floor = now
    for sighting in live where sighting.state == .background {
      sighting.isLimitOver = sighting.limit(limits) <= now
    }
  }
}

// MARK: What comes out

extension Ledger {
  /// Finishes an event: cancels the retries for instances that may run again.
  func finish() {
    for sighting in live where sighting.retryDue != nil {
      let mayRun =
        sighting.isBusy(at: now)
        || !sighting.tasks.isEmpty && sighting.hasTimeLeft(limits, at: now)
      if sighting.state != .background || sighting.ending != nil || mayRun {
        sighting.retryDue = nil
      }
    }
  }
}

extension Ledger {
  mutating func apply(_ effect: Effect) {
    switch effect {
    case .reply(_, .registered(let registration)): registered(registration.instance)
    case .reply, .expire, .notification, .memory: break
    case .notify(let id, let notice):
      if case .socketsReady(let event, _) = notice { self[id]?.told(of: event) }
    case .socket(let effect): apply(effect)
    case .deliver(let id, let callback, _):
      self[id]?.inFlight = callback.id
      self[id]?.callbackLast = callback.id.number
    case .spawn(let id, let key, let reason): spawn(id, key, reason)
    case .manage(let id, _, let key): manage(id, key)
    case .suspend(let id):
      self[id]?.isStopping = true
      self[id]?.retryDue = nil
    case .resume(let id):
      self[id]?.isStopping = false
      self[id]?.isStopped = false
    case .terminate(let id, _):
      self[id]?.terminateDue = now + limits.terminateTimeout
      self[id]?.terminateDueLate = now + limits.terminateTimeout
    case .kill(let id): if let sighting = self[id] { kill(sighting) }
    case .release(let id, _): release(id)
    case .resources(let effect): apply(effect)
    case .checkTracer(let id): self[id]?.askedAt = now
    case .record(let record): note(record)
    }
  }

  private func registered(_ id: InstanceID) {
    guard let sighting = self[id] else { return }
    let wasAware = sighting.hasRegistered
    sighting.hasRegistered = true
    sighting.isAware = true
    sighting.hasStream = true
    sighting.launchDue = nil
    if !wasAware, sighting.ending == nil {
      sighting.owe([.didFinishLaunching], at: now)
    }
  }

  private mutating func spawn(_ id: InstanceID, _ key: ApplicationKey, _ reason: LaunchReason) {
    if reason == .relaunch { relaunching.remove(key) }
    guard launches[id] == nil, let manifest = manifest(for: key) else { return }
    var target = LaunchTarget.foreground
    switch event {
    case .operation(.launch(_, _, let wanted, _)): target = wanted
    case .scheduler(.started), .scheduler(.deadlineReached): target = .background
    case _: break
    }
    launches[id] = Launch(
      key: key,
      plan: Sighting.Plan(
        target: target, reason: reason, seat: manifest.seat, modes: manifest.backgroundModes,
        mayStay: manifest.multitasking, stopSignal: manifest.stopSignal),
      request: event.requester)
  }

  private mutating func manage(_ id: InstanceID, _ key: ApplicationKey) {
    guard let plan = newcomer else { return }
    let sighting = Sighting(id: id, key: key, plan: plan)
    while sightings.count <= Int(id.number) { sightings.append(nil) }
    sightings[Int(id.number)] = sighting
    live.append(sighting)
    byKey[key] = sighting
    launches[id] = nil
    relaunching.remove(key)
    if ![.boot, .relaunch, .location].contains(plan.reason) {
      barred.remove(key)
      perhapsBarred.remove(key)
    }
    if plan.target == .background, !plan.isAware, plan.task == nil {
      sighting.launchDue = now + limits.launchTime
      sighting.launchDueLate = now + limits.launchTime
    }
  }

  private func kill(_ sighting: Sighting) {
    if sighting.ending == nil, case .resources = event, let reason = sighting.offence {
      sighting.ending = reason
    } else if sighting.ending == nil {
      let isOverdue = sighting.callbackDue(limits).map { $0 <= now } ?? false
      sighting.ending = isOverdue ? sighting.reasonOfLimit : .backgroundTimeExpired
      sighting.lateAtKill = isOverdue ? sighting.owed.first : nil
    } else if sighting.terminateDue == nil, !sighting.wasSuspendedAtEnd, !sighting.isKilled {
      if sighting.ending?.isByPerson != true { sighting.ending = sighting.reasonOfLimit }
      sighting.lateAtKill = sighting.owed.first
    }
    sighting.isKilled = true
    if case .scheduler(.recovered) = event {} else { sighting.killRetryDue = nil }
    sighting.isStopping = false
  }

  private mutating func release(_ id: InstanceID) {
    guard let sighting = self[id] else { return }
    sightings[Int(id.number)] = nil
    live.removeAll { $0 === sighting }
    byKey[sighting.key] = nil
  }

  private mutating func note(_ record: Record) {
    if case .ended(let end) = record.change, end.reason.isByPerson { bar(record.application) }
    if case .relaunchPlanned = record.change { relaunching.insert(record.application) }
    guard let sighting = byKey[record.application] else { return }
    if case .transition(let from, let to, let cause) = record.change {
      move(sighting, from: from, to: to)
      sighting.isRising = to == .inactive && cause != .interruption
    }
    if case .taskBegan(let task, _, _) = record.change {
      sighting.tasks.append((task, false))
      sighting.taskLast = task.number
    }
    if case .taskExpired(let task, _) = record.change,
      let index = sighting.tasks.firstIndex(where: { $0.id == task })
    {
      sighting.tasks[index].isExpired = true
    }
    if case .keepAliveCalled = record.change { sighting.owe([.keepAlive], at: now) }
    if case .memoryChosen = record.change { sighting.end(.memoryPressure, at: now) }
    if case .socketsReady = record.change { sighting.handled.append((nil, now + limits.eventTime)) }
  }

  private func move(_ sighting: Sighting, from: ApplicationState, to: ApplicationState) {
    sighting.state = to
    if from == .background {
      if to != .notRunning {
        for index in sighting.tasks.indices { sighting.tasks[index].isExpired = false }
      }
      (sighting.stretch, sighting.isLookedAt, sighting.wasThrottled) = (nil, false, false)
    }
    if to != .background { sighting.launchDue = nil }
    if to == .background {
      sighting.stintSince = now
      sighting.warnedAt = nil
      sighting.isLimitOver = false
    }
    switch (from, to) {
    case (.inactive, .active): sighting.owe([.didBecomeActive], at: now)
    case (.background, .inactive), (.suspended, .inactive):
      sighting.owe([.willEnterForeground], at: now)
    case (.active, .inactive): sighting.owe([.willResignActive], at: now)
    case (.active, .background): sighting.owe([.willResignActive, .didEnterBackground], at: now)
    case (.inactive, .background): sighting.owe([.didEnterBackground], at: now)
    case (.background, .suspended): sighting.isStopped = true
    case _: break
    }
  }
}

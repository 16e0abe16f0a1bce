// Background tasks (contract §4), and the entitlements of an instance in the background (§5).

extension Instance {
  /// Returns the entitlements, in the contract's order. In the foreground, an instance needs no
  /// entitlement.
  func entitlements(_ policy: SharedPolicy, at now: Instant) -> [Entitlement] {
    var entitlements: [Entitlement] = []
    if !tasks.isEmpty, hasTimeLeft(policy, at: now) { entitlements.append(.backgroundTask) }
    if !callbacks.isEmpty { entitlements.append(.callback) }
    if isEntitledByAudio { entitlements.append(.audio) }
    // A suspended instance does not have this entitlement, because updates do not resume it.
    if isLocating, state != .suspended { entitlements.append(.location) }
    if stint?.launchEnds != nil || !handling.isEmpty { entitlements.append(.event) }
    return entitlements
  }

  /// Returns whether something entitles the instance to run.
  ///
  /// - Parameter byAudio: Whether audio counts as an entitlement.
  func isEntitled(_ policy: SharedPolicy, at now: Instant, byAudio: Bool = true) -> Bool {
    !callbacks.isEmpty || stint?.launchEnds != nil || !handling.isEmpty
      || byAudio && isEntitledByAudio || isLocating
      || (!tasks.isEmpty && hasTimeLeft(policy, at: now))
  }

  private func hasTimeLeft(_ policy: SharedPolicy, at now: Instant) -> Bool {
    guard let stint, !isTraced else { return true }
    return now < stint.time.limit(policy)
  }

  /// Suspends an instance in the background that has no entitlement, or kills it if it has tasks
  /// outstanding. Undoes a suspension in progress if the instance has an entitlement again.
  ///
  /// Call this after every change that may affect the entitlements.
  ///
  /// - Parameter debuggerIsAbsent: Whether the daemon has just found no debugger. If false, the
  ///   scheduler asks the daemon to look for a debugger before it kills the application.
  mutating func reconsider(debuggerIsAbsent: Bool = false, in turn: inout Turn) {
    guard let stint, termination == nil else { return }
    if isEntitled(turn.policy, at: turn.instant) {
      undoSuspension(in: &turn)
      startMeasuringUse(in: &turn)
    } else if !tasks.isEmpty {
      guard debuggerIsAbsent else { return askForDebugger(in: &turn) }
      kill(.backgroundTimeExpired, tasks.endDetail, in: &turn)
    } else {
      suspend(stint.suspension, in: &turn)
    }
  }

  /// Begins the suspension, or continues it when the audio is muted or `AudioMuteTime` has passed.
  private mutating func suspend(_ progress: Stint.Suspension, in turn: inout Turn) {
    let isAudible = audio?.isAudible ?? false
    switch progress {
    case .none where isAudible:
      let end = turn.instant.advanced(by: turn.policy.audioMuteTime)
      stint?.suspension = .muting(until: end)
    case .muting(let end) where isAudible && turn.instant < end: break
    case .none, .muting:
      stint?.suspension = .stopping
      // A stream may have begun since the other streams were muted.
      adjustMutes(in: &turn)
      turn.emit(.suspend(id))
    case .stopping, .failed: break
    }
  }

  mutating func undoSuspension(in turn: inout Turn) {
    if isStopping {
      turn.emit(.resume(id))
      throttleAgain(in: &turn)
    }
    stint?.suspension = .none
  }

  mutating func suspensionCompleted(in turn: inout Turn) {
    guard isStopping else { return }
    if state == .suspended {
      phase = .suspended(isStopping: false)
    } else {
      move(to: .suspended(isStopping: false), cause: .noEntitlement, in: &turn)
    }
    if !sockets.isEmpty { turn.emit(.socket(.watch(id))) }
    if turn.policy.memoryPageOut { turn.emit(.memory(.pageOut(id))) }
  }

  mutating func suspensionFailed(reason: String, in turn: inout Turn) {
    guard isStopping else { return }
    if state == .suspended {
      if !sockets.isEmpty { turn.emit(.socket(.stopWatching(id))) }
      move(to: .background(Stint(at: turn.instant)), cause: .suspensionLost, in: &turn)
      deliverChanges(in: &turn)
      deliverMemoryWarning(in: &turn)
      deliverAuthorization(in: &turn)
    }
    delaySuspension(in: turn)
    throttleAgain(in: &turn)
    record(.suspensionFailed(reason: reason), in: &turn)
    // The instance runs until the next attempt, or for as long as a new entitlement lasts.
    // Meanwhile, the scheduler measures its resource use.
    startMeasuringUse(in: &turn)
    reconsider(in: &turn)
  }

  /// Suspends an instance again after another program has resumed one of its processes.
  ///
  /// The instance is in the background until the suspension is complete. If another program already
  /// resumed a process less than `SuspendRetryInterval` ago, the scheduler first waits for
  /// `SuspendRetryInterval`.
  mutating func suspensionLost(reason: String, in turn: inout Turn) {
    guard phase == .suspended(isStopping: false), termination == nil else { return }
    let wasLostRecently = suspensionLostAt.map {
      turn.instant < $0.advanced(by: turn.policy.suspendRetryInterval)
    }
    suspensionLostAt = turn.instant
    leaveSuspended(to: .background(Stint(at: turn.instant)), cause: .suspensionLost, in: &turn)
    record(.suspensionFailed(reason: reason), in: &turn)
    if wasLostRecently == true {
      delaySuspension(in: turn)
      startMeasuringUse(in: &turn)
    }
    reconsider(in: &turn)
  }

  /// Postpones the next attempt to suspend the instance by `SuspendRetryInterval`.
  private mutating func delaySuspension(in turn: Turn) {
    let retryAt = turn.instant.advanced(by: turn.policy.suspendRetryInterval)
    stint?.suspension = .failed(retryAt: retryAt)
  }

  // MARK: Background tasks

  /// Begins a background task. Refuses the request if the instance is suspended or a quota is used
  /// up.
  ///
  /// - Parameter userCount: The number of outstanding tasks of all applications of the user.
  mutating func beginTask(
    name: String?, userCount: Int, request: RequestID, in turn: inout Turn
  ) {
    if let refusal = refusalOfTask(userCount: userCount, turn.policy) {
      turn.reply(request, .refused(refusal))
      return record(.refused(refusal), in: &turn)
    }
    grantTask(name: name, request: request, in: &turn)
    if stint?.time.warnedAt != nil { expireTasks(in: &turn) }
    reconsider(in: &turn)
  }

  mutating func grantTask(name: String?, request: RequestID?, in turn: inout Turn) {
    let task = tasks.begin(name: name, at: turn.instant)
    let remaining = timeRemaining(turn.policy, at: turn.instant)
    turn.reply(request, .began(task, remaining: remaining))
    record(.taskBegan(task, name: name, remaining: remaining), in: &turn)
  }

  private func refusalOfTask(userCount: Int, _ policy: SharedPolicy) -> Refusal? {
    if state == .suspended { return .invalidState(state) }
    guard tasks.count < policy.tasksPerApplicationMax else {
      return .quotaExceeded(name: "MaxTasksPerApplication", limit: policy.tasksPerApplicationMax)
    }
    guard userCount < policy.tasksPerUserMax else {
      return .quotaExceeded(name: "MaxTasksPerUser", limit: policy.tasksPerUserMax)
    }
    return nil
  }

  mutating func endTask(_ task: TaskID, request: RequestID, in turn: inout Turn) {
    guard let ended = tasks.end(task) else {
      turn.reply(request, .refused(.unknownTask(task)))
      return record(.refused(.unknownTask(task)), in: &turn)
    }
    turn.reply(request, .done)
    reasons.entitlementEnded(.task(task, name: ended.name), at: turn.instant)
    record(.taskEnded(task, name: ended.name), in: &turn)
    reconsider(in: &turn)
  }

  /// Calls the expiration handlers of the outstanding tasks that have not expired, in the order in
  /// which the tasks began.
  mutating func expireTasks(in turn: inout Turn) {
    let remaining = timeRemaining(turn.policy, at: turn.instant)
    for task in tasks.expireAll() {
      if hasStream { turn.emit(.expire(id, task.id, remaining: remaining)) }
      record(.taskExpired(task.id, name: task.name), in: &turn)
    }
  }
}

extension BackgroundTasks {
  /// The detail of an end because of outstanding tasks: the first task, and the number of tasks.
  fileprivate var endDetail: EndDetail? {
    all.first.map {
      .task($0.id, name: $0.name, outstanding: count)
    }
  }
}

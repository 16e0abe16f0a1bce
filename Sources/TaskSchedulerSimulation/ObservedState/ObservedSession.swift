import TaskSchedulerCore

/// The windows of one instance, as its user's session agent reports them. Instants are in
/// nanoseconds.
struct ObservedWindow {
  /// The visibility; nil if the agent that reported it disconnected and did not return within
  /// `SessionGraceTime`.
  var visibility: WindowVisibility?
  var since: UInt64
  /// The start of `FocusSettleTime` for an active application without the focus.
  var unfocusedSince: UInt64?
  /// The start of `FocusSettleTime` and `HiddenGraceTime` for a foreground application whose
  /// windows are hidden.
  var hiddenSince: UInt64?

  func resignsAt(_ limits: Limits) -> UInt64? { unfocusedSince.map { $0 + limits.focusSettleTime } }

  func leavesAt(_ limits: Limits) -> UInt64? {
    hiddenSince.map { $0 + limits.focusSettleTime + limits.hiddenGraceTime }
  }

  func nextDue(_ limits: Limits) -> UInt64? {
    [resignsAt(limits), leavesAt(limits)].compactMap { $0 }.min()
  }

  mutating func restart(at now: UInt64) {
    if unfocusedSince != nil { unfocusedSince = now }
    if hiddenSince != nil { hiddenSince = now }
  }

  mutating func hold() {
    unfocusedSince = nil
    hiddenSince = nil
  }
}

/// What the checkers know about the session agents, and what the current event requires.
struct ObservedSessions {
  /// The session agents by user. For a lost agent, the value is the instant of its loss; for an
  /// attached agent, the value is nil.
  var agents: [UserID: UInt64?] = [:]
  var lastSnapshot: [UserID: WindowSnapshot] = [:]
  var locks: [SeatID: (since: UInt64, interrupted: InstanceID?, focused: InstanceID?)] = [:]

  // MARK: The current event
  var isRepetition = false
  /// Instances that must be active, or become active, after the event.
  var mustBeActive: [InstanceID] = []
  /// Instances that must be in the foreground after the event.
  var mustBeForeground: [InstanceID] = []
  /// Instances that must be inactive after the event.
  var mustResign: [InstanceID] = []
  /// Instances whose limit for hidden windows passes with the event.
  var mustLeave: [InstanceID] = []
  /// Instances whose limit for windows without the focus passes with the event.
  var settled: [InstanceID] = []
  /// Suspended instances that the daemon must resume because the event closes their windows.
  var mustWake: [InstanceID] = []

  mutating func begin() {
    isRepetition = false
    mustBeActive = []
    mustBeForeground = []
    mustResign = []
    mustLeave = []
    settled = []
    mustWake = []
  }
}

extension ObservedInstance {
  var isActiveOrActivating: Bool { state == .active || isActivating }

  func mayChange(_ policy: Policy) -> Bool {
    ending == nil && outstanding.count < policy.queuedCallbacksMax
  }

  /// Records that the instance is not active and does not become active.
  func resign() {
    isActivating = false
    window?.unfocusedSince = nil
  }
}

// The windows and the locks of the screen (contract.md#session).
extension ObservedState {
  func apply(_ event: SessionEvent) {
    switch event {
    case .agentAttached(let user): sessions.agents[user] = .some(nil)
    case .windows(let user, let snapshot):
      if sessions.agents[user] == .some(nil) { apply(snapshot, of: user) }
    case .audio(let user, let snapshot): apply(snapshot, of: user)
    case .audioLost(let user): loseAudio(of: user)
    case .recordingChosen(let key): if byKey[key] != nil { notificationChosen(key) }
    case .players(let user, let ids): apply(players: ids, of: user)
    case .playerCalled(let user, let id, let call): playerCalled(call, of: id, by: user)
    case .modemCalls(let calls): apply(calls)
    case .incomingCall(let key): incomingCall(for: key)
    case .callAnswered(let key): notificationChosen(key)
    case .remoteCommand(let user, _):
      players.receiver = lastAudible(of: user) { !$0.isOnBus && $1.takesRemoteControl }
    case .agentLost(let user):
      if sessions.agents[user] == .some(nil) { sessions.agents[user] = now }
    case .locked(let seat, byRequest: _): lock(seat)
    case .unlocked(let seat): unlock(seat)
    }
  }

  private func apply(_ snapshot: WindowSnapshot, of user: UserID) {
    sessions.isRepetition = sessions.lastSnapshot[user] == snapshot
    sessions.lastSnapshot[user] = snapshot
    var focusedSeats: [SeatID] = []
    var reported: [InstanceID: WindowVisibility] = [:]
    for report in snapshot.windows.sorted(by: { $0.instance < $1.instance }) {
      guard let instance = self[report.instance], instance.key.owner == user,
        reported[instance.id] == nil
      else { continue }
      reported[instance.id] = report.visibility
      guard report.visibility == .focused else { continue }
      if focusedSeats.contains(instance.plan.seat) { reported[instance.id] = .visible }
      focusedSeats.append(instance.plan.seat)
    }
    var changed: [ObservedInstance] = []
    for instance in live.sorted(by: { $0.id < $1.id }) where instance.key.owner == user {
      guard instance.window != nil || reported[instance.id] != nil else { continue }
      let previous = instance.window?.visibility
      let next = reported[instance.id] ?? .closed
      if change(instance, to: next) { changed.append(instance) }
      if next == .closed, previous != nil, previous != .closed { closed(instance) }
    }
    for instance in changed where reported[instance.id] == .focused { focus(instance) }
    for instance in changed where reported[instance.id] == .visible {
      if instance.mayChange(policy) { sessions.mustBeForeground.append(instance.id) }
    }
    guard snapshot.hasFocus else { return }
    for instance in live where reported[instance.id] == .visible && instance.ending == nil {
      guard instance.window?.unfocusedSince != nil else { continue }
      sessions.mustResign.append(instance.id)
      instance.resign()
    }
  }

  /// Records the reported visibility of an instance. Returns whether it changed.
  private func change(_ instance: ObservedInstance, to next: WindowVisibility) -> Bool {
    if instance.window?.visibility == next { return false }
    let before = instance.window?.unfocusedSince
    var window = ObservedWindow(visibility: next, since: now)
    if next != .focused, instance.isActiveOrActivating { window.unfocusedSince = before ?? now }
    if next == .hidden || next == .closed, instance.state.isForeground {
      window.hiddenSince = instance.window?.hiddenSince ?? now
    }
    instance.window = window
    instance.hadWindow = true
    return true
  }

  /// Records that the windows of an instance are closed. A suspended instance cannot have closed
  /// them itself, so the daemon must resume it.
  private func closed(_ instance: ObservedInstance) {
    if instance.state == .suspended, instance.ending == nil {
      sessions.mustWake.append(instance.id)
    }
  }

  private func focus(_ instance: ObservedInstance) {
    guard instance.ending == nil else { return }
    let seat = instance.plan.seat
    if sessions.locks.keys.contains(where: { Self.isWithin($0, seat) }) {
      sessions.locks[seat, default: (now, nil, nil)].focused = instance.id
    } else if instance.isActiveOrActivating || instance.mayChange(policy) {
      sessions.mustBeActive.append(instance.id)
      if !instance.isActiveOrActivating { activate(instance, isOrder: false) }
    }
  }

  /// Returns whether a seat is `outer`, or the seat of a terminal within `outer`.
  static func isWithin(_ outer: SeatID, _ seat: SeatID) -> Bool {
    seat == outer || seat.name.hasPrefix("\(outer.name)/")
  }

  private func lock(_ seat: SeatID) {
    guard sessions.locks[seat] == nil else { return }
    sessions.locks[seat] = (now, nil, nil)
    for front in live
    where front.isActiveOrActivating && front.ending == nil && Self.isWithin(seat, front.plan.seat)
    {
      sessions.locks[front.plan.seat, default: (now, nil, nil)].interrupted = front.id
      front.isLockedOut = true
      front.isCalledOut = false
      front.resign()
      sessions.mustResign.append(front.id)
    }
  }

  private func unlock(_ seat: SeatID) {
    guard sessions.locks[seat] != nil else { return }
    for place in sessions.locks.keys.filter({ Self.isWithin(seat, $0) }).sorted() {
      if let lock = sessions.locks.removeValue(forKey: place) { end(lock, of: place) }
    }
  }

  private func end(
    _ lock: (since: UInt64, interrupted: InstanceID?, focused: InstanceID?), of seat: SeatID
  ) {
    if let instance = lock.focused.flatMap({ self[$0] }), instance.ending == nil,
      instance.window?.visibility == .focused
    {
      if instance.isActiveOrActivating || instance.mayChange(policy) {
        sessions.mustBeActive.append(instance.id)
      }
      if !instance.isActiveOrActivating, instance.mayChange(policy) {
        activate(instance, isOrder: false)
      }
      return
    }
    let isTaken = live.contains {
      $0.isActiveOrActivating && $0.ending == nil && $0.plan.seat == seat
    }
    guard !isTaken, let instance = lock.interrupted.flatMap({ self[$0] }), instance.isLockedOut,
      instance.state == .inactive, instance.ending == nil
    else { return }
    instance.isLockedOut = false
    if let window = instance.window, let visibility = window.visibility,
      window.since >= lock.since, visibility != .focused
    {
      return
    }
    guard instance.mayChange(policy) else {
      instance.isLockedOut = true
      return
    }
    sessions.mustBeActive.append(instance.id)
    activate(instance, isOrder: false)
  }

  /// Records that a deadline was reached. Discards the reports of agents that have been
  /// disconnected for `SessionGraceTime`.
  func sessionDeadlineReached() {
    for (user, lostAt) in sessions.agents {
      guard let lostAt, lostAt + limits.sessionGraceTime <= now else { continue }
      sessions.agents[user] = nil
      sessions.lastSnapshot[user] = nil
      for instance in live where instance.key.owner == user {
        if let visibility = instance.window?.visibility, visibility != .closed { closed(instance) }
        instance.window?.visibility = nil
        instance.window?.hold()
      }
    }
  }

  /// Enforces the expired limits of the windows of an instance.
  func enforceWindowLimits(_ instance: ObservedInstance) {
    // If an acknowledgement is missing, the daemon kills the instance instead.
    if let due = instance.callbackDue(limits), due <= now { return }
    if let leaves = instance.window?.leavesAt(limits), leaves <= now {
      sessions.mustLeave.append(instance.id)
      sendToBackground(instance)
    } else if let resigns = instance.window?.resignsAt(limits), resigns <= now {
      sessions.settled.append(instance.id)
      instance.resign()
    }
  }

  func sessionsRecovered() {
    for (user, lostAt) in sessions.agents where lostAt != nil { sessions.agents[user] = now }
  }
}

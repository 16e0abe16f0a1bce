import TaskSchedulerCore

/// Checks that the application of the focused window becomes active at once
/// (contract.md#session-focus), and that a repeated report has no effect.
struct FocusChecker: Checker {
  static let name = "focus"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    try require(!observed.sessions.isRepetition, "a repeated report of all windows has an effect")
    guard let (instance, _, cause) = observed.transition(effect), cause == .focused else { return }
    try require(
      observed.sessions.mustBeActive.contains(instance.id),
      "\(instance.name) becomes active, but its window did not get the focus")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for instance in observed.sessions.mustBeActive.compactMap({ observed[$0] }) {
      // The event may also end the instance, if the instance is not allowed to run in the
      // background.
      try require(
        instance.isActiveOrActivating || instance.ending != nil,
        "the window of \(instance.name) got the focus, but the application is \(instance.state)")
    }
  }
}

/// Checks that an application is inactive if its window is visible but does not have the focus
/// (contract.md#session-visible). If no window has the focus, the application that had the focus
/// last remains active for `FocusSettleTime`.
struct VisibleChecker: Checker {
  static let name = "visible windows"
  /// The longest delay of a timer, in nanoseconds.
  let slack: UInt64

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard let (instance, _, cause) = observed.transition(effect) else { return }
    let sessions = observed.sessions
    if cause == .shown {
      try require(
        sessions.mustBeForeground.contains(instance.id),
        "\(instance.name) enters the foreground, but its window was not shown")
    }
    guard cause == .unfocused else { return }
    let isDisplaced = sessions.mustBeActive.contains { id in
      id != instance.id && observed[id]?.plan.seat == instance.plan.seat
    }
    try require(
      isDisplaced || sessions.mustResign.contains(instance.id)
        || sessions.settled.contains(instance.id),
      "\(instance.name) becomes inactive before its window has been without the focus long enough")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for instance in observed.sessions.mustBeForeground.compactMap({ observed[$0] }) {
      try require(
        instance.state.isForeground || instance.ending != nil,
        "a window of \(instance.name) is visible, but the application is \(instance.state)")
    }
    let sessions = observed.sessions
    for instance in (sessions.mustResign + sessions.settled).compactMap({ observed[$0] }) {
      try require(
        !instance.isActiveOrActivating || instance.ending != nil,
        "\(instance.name) has lost the focus, but it is active")
    }
    for instance in observed.live where instance.ending == nil {
      guard !instance.isTraced, instance.askedAt == nil,
        let due = instance.window?.resignsAt(observed.limits)
      else { continue }
      try require(
        max(due, observed.floor) + slack >= observed.now,
        "\(instance.name) has had no focus for FocusSettleTime, but it is active")
    }
  }
}

/// Checks that an application goes to the background when its windows have been hidden for
/// `FocusSettleTime` and `HiddenGraceTime`, and not earlier (contract.md#session-hidden).
struct HiddenChecker: Checker {
  static let name = "hidden windows"
  /// The longest delay of a timer, in nanoseconds.
  let slack: UInt64

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard let (instance, _, cause) = observed.transition(effect), cause == .hidden else { return }
    try require(
      observed.sessions.mustLeave.contains(instance.id),
      "\(instance.name) goes to the background before its windows have been hidden long enough")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live where instance.ending == nil {
      guard !instance.isTraced, instance.askedAt == nil,
        let due = instance.window?.leavesAt(observed.limits)
      else { continue }
      try require(
        max(due, observed.floor) + slack >= observed.now,
        "the windows of \(instance.name) are hidden, but the application is \(instance.state)")
    }
  }
}

/// Checks that a suspended application is resumed when its windows are closed, and that no other
/// application is resumed for that reason (contract.md#session-closed).
struct ClosedChecker: Checker {
  static let name = "closed windows"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard let (instance, _, cause) = observed.transition(effect), cause == .closed else { return }
    try require(
      observed.sessions.mustWake.contains(instance.id),
      "\(instance.name) is resumed, but no window of it was closed")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for instance in observed.sessions.mustWake.compactMap({ observed[$0] }) {
      try require(
        instance.state != .suspended || instance.ending != nil,
        "the windows of \(instance.name) were closed, but it stays suspended")
    }
  }
}

/// Checks that the focus changes only the states of applications whose windows are known
/// (contract.md#session-lost).
///
/// The reports of a lost agent are valid for `SessionGraceTime`. An application that never had a
/// window is not affected by reports.
struct LostAgentChecker: Checker {
  static let name = "lost agents"
  /// The longest delay of a timer, in nanoseconds.
  let slack: UInt64

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard let (instance, to, cause) = observed.transition(effect) else { return }
    switch cause {
    case .focused, .shown, .hidden:
      try require(
        instance.window?.visibility != nil,
        "\(instance.name) becomes \(to) because of the focus, but its windows are not known")
    case .unfocused:
      // When another application is activated, an application without windows does not become
      // inactive: it goes to the background.
      try require(
        instance.window?.visibility != nil,
        "\(instance.name) becomes inactive because of the focus, but its windows are not known")
    case .launch, .register, .adopt, .activate, .acknowledged, .interruption, .sendAway,
      .otherActivated, .terminate, .noEntitlement, .event, .suspensionLost, .leaderExited,
      .schedulerStopped, .closed, .locked, .unlocked, .audio, .remoteControl, .remoteRead,
      .location, .call, .callEnded, .released:
      break
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for (_, lostAt) in observed.sessions.agents {
      guard let lostAt else { continue }
      let due = max(lostAt + observed.limits.sessionGraceTime, observed.floor)
      try require(
        due + slack >= observed.now, "the reports of a lost agent are valid for too long")
    }
  }
}

/// Checks that the lock of the screen interrupts the active application, and that the unlock ends
/// the interruption (contract.md#session-lock).
struct LockChecker: Checker {
  static let name = "screen lock"

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard let (instance, _, cause) = observed.transition(effect) else { return }
    if cause == .locked {
      try require(
        observed.sessions.mustResign.contains(instance.id),
        "\(instance.name) is interrupted, but the lock must not interrupt it")
    }
    if cause == .unlocked {
      try require(
        observed.sessions.mustBeActive.contains(instance.id),
        "\(instance.name) is activated, but the unlock must not activate it")
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    guard case .session(.locked(let seat, byRequest: _)) = observed.event else { return }
    for id in observed.sessions.mustResign {
      guard let instance = observed[id], instance.ending == nil else { continue }
      try require(
        !instance.isActiveOrActivating,
        "\(instance.name) is active, but the screen of \(seat.name) is locked")
    }
  }
}

// The focus, and the lock of the screen (contract §20). `AudioReports` handles reports of audio.
//
// A session agent reports all windows of its user whenever they change. The scheduler compares a
// report with the previous report, and acts on each window that differs. An operator's order for an
// application is therefore in force until a window of the application changes. A change of a window
// may start a limit, for example `FocusSettleTime`. A later change of the window may cancel the
// limit. An order for the application always cancels it.

/// A report of a user's session agent, of logind, or of ModemManager.
public enum SessionEvent: Equatable, Sendable {
  /// The session agent of a user has connected. A report follows.
  case agentAttached(UserID)
  /// All windows of the user's session.
  case windows(UserID, WindowSnapshot)
  /// The connection to the agent has ended.
  case agentLost(UserID)
  /// All streams of the user's audio server.
  case audio(UserID, AudioSnapshot)
  /// The connection to the agent that reported the audio of the user has ended.
  case audioLost(UserID)
  /// The user has chosen the notice about an application that records.
  case recordingChosen(ApplicationKey)
  /// All of the user's instances that are media players on the session bus.
  case players(UserID, [InstanceID])
  /// A program has called the media player of an instance on the session bus.
  case playerCalled(UserID, InstanceID, PlayerCall)
  /// A program has sent a command to the media player `taskschedd`.
  case remoteCommand(UserID, RemoteCommand)
  /// All modem calls that ring or have been answered.
  case modemCalls([ModemCall])
  /// A call of a modem begins to ring, and the setting `CallApplication` names the application.
  case incomingCall(ApplicationKey)
  /// The user has answered a call of a modem, and `CallApplication` names the application.
  case callAnswered(ApplicationKey)
  /// The screen of a seat, and of all seats within it, is locked.
  ///
  /// `byRequest` is true if a program asked logind for the lock, and the desktop has not set
  /// LockedHint. logind does not store such a request, so the scheduler stores it for the next
  /// daemon.
  case locked(SeatID, byRequest: Bool)
  case unlocked(SeatID)
}

extension Scheduler {
  mutating func handle(_ event: SessionEvent, in turn: inout Turn) {
    switch event {
    case .agentAttached(let user): sessions.agents[user] = .attached
    case .windows(let user, let snapshot):
      if sessions.agents[user] == .attached { apply(snapshot, of: user, in: &turn) }
    case .agentLost(let user):
      if sessions.agents[user] == .attached {
        sessions.agents[user] = .lost(at: turn.instant)
      }
    case .audio(let user, let snapshot): apply(snapshot, of: user, in: &turn)
    case .audioLost(let user): loseAudio(of: user, in: &turn)
    case .recordingChosen(let key): recordingChosen(key, in: &turn)
    case .players(let user, let ids): apply(players: ids, of: user, in: &turn)
    case .playerCalled(let user, let id, let call):
      playerCalled(call, of: id, by: user, in: &turn)
    case .remoteCommand(let user, let command): remoteCommand(command, of: user, in: &turn)
    case .modemCalls(let calls): apply(calls, in: &turn)
    case .incomingCall(let key): incomingCall(for: key, in: &turn)
    case .callAnswered(let key): callAnswered(by: key, in: &turn)
    case .locked(let seat, let isRequest): lock(seat, isRequest, in: &turn)
    case .unlocked(let seat): unlock(seat, in: &turn)
    }
  }

  // MARK: Windows

  private mutating func apply(
    _ snapshot: WindowSnapshot, of user: UserID, in turn: inout Turn
  ) {
    let reported = visibilities(snapshot, of: user)
    var changed: [InstanceID] = []
    var closed: [InstanceID] = []
    for id in Set(instancesWithWindows(of: user)).union(reported.keys).sorted() {
      let next = reported[id] ?? .closed
      let previous = instances.boxes[id]?.value.window?.visibility
      guard previous != next else { continue }
      changed.append(id)
      if next == .closed, previous != nil { closed.append(id) }
      // This loop records all windows before the first transition, because an activation sends
      // another application to the background only if that application has no known window.
      updateInstance(id, in: &turn) { $0.windowChanged(to: next, at: $1.instant) }
    }
    for id in closed { updateInstance(id, in: &turn) { $0.windowsClosed(in: &$1) } }
    for id in changed where reported[id] == .focused { focus(id, in: &turn) }
    for id in changed where reported[id] == .visible {
      updateInstance(id, in: &turn) { $0.show(in: &$1) }
    }
    guard snapshot.hasFocus else { return }
    for id in reported.sortedKeys where reported[id] == .visible {
      updateInstance(id, in: &turn) { $0.resignIfUnfocused(in: &$1) }
    }
  }

  /// Returns a user's instances whose windows are or were known, in no particular order.
  private func instancesWithWindows(of user: UserID) -> [InstanceID] {
    // Reads the boxes, because a copy of each instance would cost more than the search.
    instances.boxes.values.lazy
      .filter { $0.value.application.owner == user && $0.value.window != nil }.map(\.value.id)
  }

  /// Returns the visibility of each running instance that the report of a user contains. At each
  /// seat, at most one instance has the focus.
  private func visibilities(
    _ snapshot: WindowSnapshot, of user: UserID
  ) -> [InstanceID: WindowVisibility] {
    var visibilities: [InstanceID: WindowVisibility] = [:]
    var focusedSeats: Set<SeatID> = []
    for report in snapshot.windows.sorted(by: { $0.instance < $1.instance }) {
      guard let instance = instances[report.instance], instance.application.owner == user,
        visibilities[report.instance] == nil
      else { continue }
      let isFocused =
        report.visibility == .focused && focusedSeats.insert(instance.seat).inserted
      visibilities[report.instance] =
        report.visibility == .focused && !isFocused ? .visible : report.visibility
    }
    return visibilities
  }

  /// Activates the instance of the window that got the focus. If the screen is locked, only records
  /// the instance, so that the unlock activates it.
  private mutating func focus(_ id: InstanceID, in turn: inout Turn) {
    guard let instance = instances[id], instance.termination == nil else { return }
    if sessions.isLocked(instance.seat) {
      sessions.locks[instance.seat, default: SeatLock(since: turn.instant)].focused = id
    } else if !instance.isActiveOrActivating {
      activate(nil, instance.application, cause: .focused, in: &turn)
    }
  }

  // MARK: Lost agents

  /// Discards the reports of the agents whose connections ended `SessionGraceTime` ago. The focus
  /// then no longer changes the states of the users' applications. The compositor has probably
  /// ended and closed the windows. The scheduler therefore resumes suspended applications that had
  /// windows, so that they can exit.
  mutating func sessionsDue(in turn: inout Turn) {
    guard sessions.firstLoss != nil else { return }
    for user in sessions.audio.sortedKeys {
      guard let lostAt = sessions.audio[user]?.agent?.lostAt else { continue }
      if lostAt.advanced(by: policy.sessionGraceTime) <= turn.instant {
        forgetAudio(of: user, in: &turn)
      }
    }
    for user in sessions.agents.sortedKeys {
      guard let lostAt = sessions.agents[user]?.lostAt else { continue }
      let due = lostAt.advanced(by: policy.sessionGraceTime)
      guard due <= turn.instant else { continue }
      sessions.agents[user] = nil
      for id in instancesWithWindows(of: user).sorted() {
        updateInstance(id, in: &turn) { instance, turn in
          let isOpen = instance.window?.isOpen ?? false
          instance.window?.forget()
          if isOpen { instance.windowsClosed(in: &turn) }
        }
      }
    }
  }

  /// Restarts the limits of disconnected agents and of quiet audio sessions: while no daemon ran,
  /// agents could neither attach nor report streams.
  mutating func recoverSessions(in turn: inout Turn) {
    for (user, agent) in sessions.agents where agent.lostAt != nil {
      sessions.agents[user] = .lost(at: turn.instant)
    }
    for (user, audio) in sessions.audio where audio.agent != nil {
      // The new daemon cannot command the media players until the agent reports their names again.
      sessions.audio[user]?.players.isStale = true
      if audio.agent?.lostAt != nil { sessions.audio[user]?.agent = .lost(at: turn.instant) }
      for (id, session) in audio.active where session.endsAt != nil {
        sessions.audio[user]?.active[id]?.endsAt = turn.instant.advanced(by: policy.audioGraceTime)
      }
    }
  }

  // MARK: The lock of the screen

  private mutating func lock(_ seat: SeatID, _ isRequest: Bool, in turn: inout Turn) {
    if sessions.locks[seat] != nil {
      sessions.locks[seat]?.isRequest = isRequest
      return
    }
    sessions.locks[seat] = SeatLock(since: turn.instant, isRequest: isRequest)
    for place in seats.occupied(within: seat) {
      let active = seats.foreground(of: place).first {
        instances[$0]?.isActiveOrActivating ?? false
      }
      guard let active else { continue }
      sessions.locks[place, default: SeatLock(since: turn.instant)].interrupted = active
      updateInstance(active, in: &turn) { $0.interrupt(cause: .locked, in: &$1) }
    }
  }

  private mutating func unlock(_ seat: SeatID, in turn: inout Turn) {
    guard sessions.locks[seat] != nil else { return }
    let places = sessions.locks.keys.filter { seat.contains($0) }.sorted()
    let locks = places.compactMap { sessions.locks.removeValue(forKey: $0) }
    for (place, lock) in zip(places, locks) { end(lock, of: place, in: &turn) }
  }

  /// Ends the interruption by the lock of the screen. If the window of an application got the focus
  /// while the screen was locked, activates that application. Otherwise, activates the interrupted
  /// application again, unless its window lost the focus while the screen was locked.
  private mutating func end(_ lock: SeatLock, of seat: SeatID, in turn: inout Turn) {
    if let id = lock.focused, let instance = instances[id], instance.termination == nil,
      instance.window?.visibility == .focused
    {
      if instance.isActiveOrActivating { return }
      return activate(nil, instance.application, cause: .focused, in: &turn)
    }
    guard let id = lock.interrupted, let instance = instances[id], instance.state == .inactive,
      instance.termination == nil, instance.reasons.cause == .locked,
      !seats.foreground(of: seat).contains(where: { instances[$0]?.isActiveOrActivating ?? false })
    else { return }
    if let window = instance.window, let visibility = window.visibility,
      window.since >= lock.since, visibility != .focused
    {
      return updateInstance(id, in: &turn) { instance, _ in
        instance.reasons.moved(to: .inactive, .unfocused)
      }
    }
    activate(nil, instance.application, cause: .unlocked, in: &turn)
  }
}

extension Instance {
  var isActiveOrActivating: Bool { state == .active || isActivating }

  mutating func windowChanged(to next: WindowVisibility, at now: Instant) {
    var window = window ?? ReportedWindow(next, at: now)
    window.change(
      to: next, isActive: isActiveOrActivating, isForeground: state.isForeground, at: now)
    self.window = window
  }

  /// Brings an instance to the foreground. The instance is inactive there, because its window is
  /// visible but does not have the focus.
  mutating func show(in turn: inout Turn) {
    guard termination == nil, callbacks.count < turn.policy.queuedCallbacksMax else { return }
    switch state {
    case .background:
      undoSuspension(in: &turn)
      move(to: .inactive(isActivating: false), cause: .shown, in: &turn)
    case .suspended:
      leaveSuspended(to: .inactive(isActivating: false), cause: .shown, in: &turn)
    case .active, .inactive, .notRunning: return
    }
    enqueue([.willEnterForeground], in: &turn)
  }

  /// Resumes a suspended instance for `EventTime`, because all of its windows have been closed or
  /// have become unknown. A suspended instance cannot close its windows, so the compositor or the X
  /// server has probably ended or disconnected the instance. Most programs then exit.
  mutating func windowsClosed(in turn: inout Turn) {
    guard termination == nil, state == .suspended else { return }
    runForEvent(turn.policy.eventTime, cause: .closed, in: &turn)
  }

  /// Sends the application a notice, and entitles it to run until it has acknowledged the notice,
  /// for at most `EventTime`.
  mutating func handle(
    _ notice: (CallbackID) -> Notice, cause: TransitionCause, in turn: inout Turn
  ) {
    let event = callbacks.nextID()
    let notice = notice(event)
    handling.begin(event, notice, until: turn.instant.advanced(by: turn.policy.eventTime))
    if state == .suspended {
      leaveSuspended(to: .background(Stint(at: turn.instant)), cause: cause, in: &turn)
    }
    if hasStream { turn.emit(.notify(id, notice)) }
    reconsider(in: &turn)
  }

  /// Entitles an instance in the background to run for `time`, and resumes it if it is suspended.
  /// The application receives no notice of the event, and does not acknowledge it.
  mutating func runForEvent(
    _ time: Duration, cause: TransitionCause, in turn: inout Turn
  ) {
    let end = turn.instant.advanced(by: time)
    if !handling.extendUnacknowledged(until: end) {
      handling.begin(callbacks.nextID(), nil, until: end)
    }
    if state == .suspended {
      leaveSuspended(to: .background(Stint(at: turn.instant)), cause: cause, in: &turn)
    }
    reconsider(in: &turn)
  }

  /// Makes an active instance inactive if its window lost the focus to another window.
  mutating func resignIfUnfocused(in turn: inout Turn) {
    guard termination == nil, window?.unfocusedSince != nil else { return }
    interrupt(cause: .unfocused, in: &turn)
  }

  /// Enforces the window limits that have passed. Makes the instance inactive if its windows have
  /// had no focus for `FocusSettleTime`. Sends it to the background if they have been hidden for
  /// `FocusSettleTime` plus `HiddenGraceTime`.
  mutating func enforceWindowLimits(in turn: inout Turn) {
    if let due = window?.leavesAt(turn.policy), due <= turn.instant {
      enterBackground(cause: .hidden, in: &turn)
    } else if let due = window?.resignsAt(turn.policy), due <= turn.instant {
      interrupt(cause: .unfocused, in: &turn)
    }
  }
}

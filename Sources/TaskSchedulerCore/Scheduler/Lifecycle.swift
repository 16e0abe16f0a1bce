// States and transitions of one instance (contract §2). `Seats` and the scheduler determine the
// transitions that follow for other applications at the seat.

extension Instance {
  /// Opens the event stream of the instance, for the first time or again after the connection has
  /// ended.
  mutating func openStream(_ request: RequestID, in turn: inout Turn) {
    let wasAware = isAware
    // The reply must be the first message on the stream. Until then, the stream counts as closed.
    stream = .closed
    stint?.launchEnds = nil
    if !wasAware, state == .suspended, termination == nil {
      // The application sent the request before its processes were stopped. It must run again to
      // handle didFinishLaunching.
      leaveSuspended(to: .background(Stint(at: turn.instant)), cause: .register, in: &turn)
    } else if !wasAware, state == .active, termination == nil {
      // From now on, the instance must acknowledge its callbacks before it is active.
      move(to: .inactive(isActivating: true), cause: .register, in: &turn)
    }
    stream = .open
    turn.reply(request, .registered(registration(turn)))
    record(.registered, in: &turn)
    // A resumed application receives missed system changes before its callbacks. If its stream was
    // closed at the resume, the scheduler sends these changes now.
    if wasAware, state != .suspended { deliverChanges(in: &turn) }
    if !wasAware, termination == nil {
      enqueue([.didFinishLaunching], in: &turn)
    } else if let callback = callbacks.inFlight {
      deliver(callback, in: &turn)
    }
    // A terminating application receives no notices. Its processes may even be suspended, if the
    // daemon is killing it.
    if termination == nil {
      for notice in handling.notices + inbox.takeNotices() { turn.emit(.notify(id, notice)) }
    }
    if state != .suspended { deliverChanges(in: &turn) }
    deliverMemoryWarning(in: &turn)
    deliverAuthorization(in: &turn)
    reconsider(in: &turn)
  }

  mutating func closeStream() {
    if hasStream { stream = .closed }
  }

  /// Brings the instance to the foreground.
  ///
  /// An aware application becomes active when it has acknowledged its callbacks, such as
  /// willEnterForeground. An unaware application becomes active at once.
  mutating func activate(cause: TransitionCause, in turn: inout Turn) {
    // An order of an operator or a user stays in force until the next change of the window.
    if cause == .activate { window?.hold() }
    let next: Phase = isAware ? .inactive(isActivating: true) : .active
    switch state {
    case .inactive:
      phase = .inactive(isActivating: true)
      reasons.moved(to: .inactive, cause)
      return finishActivation(cause: cause, in: &turn)
    case .background:
      undoSuspension(in: &turn)
      move(to: next, cause: cause, in: &turn)
    case .suspended:
      leaveSuspended(to: next, cause: cause, in: &turn)
    case .active, .notRunning:
      preconditionFailure("no such transition: \(state) to active")
    }
    enqueue([.willEnterForeground], in: &turn)
  }

  /// Makes an instance that is coming to the foreground active, if it has acknowledged its
  /// callbacks.
  mutating func finishActivation(cause: TransitionCause, in turn: inout Turn) {
    guard isActivating, !callbacks.hasEntry else { return }
    move(to: .active, cause: cause, in: &turn)
    enqueue([.didBecomeActive], in: &turn)
  }

  /// Interrupts the instance. An instance that is coming to the foreground stays inactive.
  mutating func interrupt(cause: TransitionCause, in turn: inout Turn) {
    precondition(state.isForeground, "the instance is not in the foreground")
    guard state == .active else {
      cancelActivation()
      return reasons.moved(to: .inactive, cause)
    }
    move(to: .inactive(isActivating: false), cause: cause, in: &turn)
    enqueue([.willResignActive], in: &turn)
  }

  /// Stops the activation of an instance that is coming to the foreground. The instance stays
  /// inactive.
  mutating func cancelActivation() {
    if isActivating { phase = .inactive(isActivating: false) }
    window?.resigned()
  }

  mutating func enterBackground(cause: TransitionCause, in turn: inout Turn) {
    precondition(state.isForeground, "the instance is not in the foreground")
    guard mayStayInBackground, turn.policy.multitaskingSupported else {
      return terminate(.optedOut, waiter: nil, in: &turn)
    }
    let kinds: [CallbackKind] =
      state == .active ? [.willResignActive, .didEnterBackground] : [.didEnterBackground]
    move(to: .background(Stint(at: turn.instant)), cause: cause, in: &turn)
    enqueue(kinds, in: &turn)
    reconsider(in: &turn)
  }

  /// Leaves the suspended state, and resumes the processes.
  mutating func leaveSuspended(
    to next: Phase, cause: TransitionCause, in turn: inout Turn
  ) {
    precondition(state == .suspended, "the instance is not suspended")
    if !sockets.isEmpty { turn.emit(.socket(.stopWatching(id))) }
    // The processes must have the new priority before they run.
    prioritize(from: priority(in: state), to: priority(in: next.state), in: &turn)
    turn.emit(.resume(id))
    move(to: next, cause: cause, isPrioritized: true, in: &turn)
    deliverChanges(in: &turn)
    deliverMemoryWarning(in: &turn)
    deliverAuthorization(in: &turn)
  }

  mutating func move(
    to next: Phase, cause: TransitionCause, isPrioritized: Bool = false,
    in turn: inout Turn
  ) {
    record(.transition(from: state, to: next.state, cause: cause), in: &turn)
    reasons.moved(to: next.state, cause)
    if state == .background {
      stopMeasuringUse(in: &turn)
      tasks.endStint()
    }
    if !isPrioritized {
      prioritize(from: priority(in: state), to: priority(in: next.state), in: &turn)
    }
    phase = next
    stateSince = turn.instant
    // In the foreground, no deadline enforces `AudioGraceTime`. It may have passed already.
    if state == .background { endAudioGraceIfDue(in: &turn) }
    if state != .suspended { endSilence(in: &turn) }
    if !isActiveOrActivating { window?.resigned() }
    if !state.isForeground { window?.hold() }
  }

  // MARK: Callbacks (contract §3)

  /// Sends callbacks, or queues them if another callback is in flight. An unaware instance receives
  /// no callbacks.
  mutating func enqueue(_ kinds: [CallbackKind], in turn: inout Turn) {
    guard isAware, let callback = callbacks.enqueue(kinds, at: turn.instant) else { return }
    deliver(callback, in: &turn)
  }

  func deliver(_ callback: Callback, in turn: inout Turn) {
    guard hasStream else { return }
    let reason = callback.kind == .didFinishLaunching ? launchReason : nil
    turn.emit(.deliver(id, callback, reason))
  }

  mutating func acknowledge(_ callback: CallbackID, request: RequestID, in turn: inout Turn) {
    if let notice = handling.acknowledge(callback) {
      reasons.entitlementEnded(.eventHandled, at: turn.instant)
      if notice.mayBeginPlaying { waitForAudio(in: &turn) }
      turn.reply(request, .done)
      return reconsider(in: &turn)
    }
    guard let (done, next) = callbacks.acknowledge(callback, at: turn.instant) else {
      turn.reply(request, .refused(.unknownCallback(callback)))
      return record(.refused(.unknownCallback(callback)), in: &turn)
    }
    turn.reply(request, .done)
    reasons.entitlementEnded(.callback(done.kind), at: turn.instant)
    if isKilled { return }
    if let next { deliver(next, in: &turn) }
    if done.kind == .willTerminate { signalTermination(in: &turn) }
    finishActivation(cause: .acknowledged, in: &turn)
    reconsider(in: &turn)
  }
}

// Phone calls (contract §13).
//
// A call of a modem interrupts the audio of all users. A call of an application interrupts the
// audio of the user's other applications. An application's call is on hold while its user has a
// newer call. `AudioInterruptions` begins and ends the interruptions.

extension Scheduler {
  mutating func apply(_ calls: [ModemCall], in turn: inout Turn) {
    self.calls.take(calls)
    callsChanged(in: &turn)
  }

  mutating func beginCall(_ request: RequestID, _ id: InstanceID, in turn: inout Turn) {
    guard let instance = instances[id] else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    if let refusal = instance.refusalOfCall {
      turn.reply(request, .refused(refusal))
      return instance.record(.refused(refusal), in: &turn)
    }
    turn.reply(request, .done)
    changeCalls(of: [id], in: &turn) { $0.begin($1) }
  }

  /// Ends the call of an instance. Without a call, nothing changes.
  mutating func endCall(_ request: RequestID, _ id: InstanceID, in turn: inout Turn) {
    turn.reply(request, .done)
    changeCalls(of: [id], in: &turn) { $0.end($1) }
  }

  /// Begins and ends phone calls according to the streams of instances (contract.md#call-stream).
  mutating func takeCallStreams(of user: UserID, in turn: inout Turn) {
    let ids = instancesWithAudio(of: user).sorted()
    var streaming: [InstanceID: Bool] = [:]
    for id in ids {
      guard let audio = instances.boxes[id]?.value.audio else { continue }
      streaming[id] = audio.playsCall && (audio.isRecording || calls.streaming.contains(id))
    }
    changeCalls(of: ids, in: &turn) { $0.setStreaming($1, streaming[$1] ?? false) }
  }

  /// Changes the calls of instances. If calls begin or end, updates the holds, the interruptions
  /// and the entitlements.
  private mutating func changeCalls(
    of ids: [InstanceID], in turn: inout Turn, _ change: (inout Calls, InstanceID) -> Void
  ) {
    var changed: [InstanceID] = []
    for id in ids {
      let hadCall = calls.hasCall(id)
      change(&calls, id)
      let hasCall = calls.hasCall(id)
      guard hasCall != hadCall else { continue }
      changed.append(id)
      instances[id]?.record(.callChanged(hasCall ? .began : .ended), in: &turn)
      updateInstance(id, in: &turn) { $0.setInCall(hasCall, in: &$1) }
    }
    if changed.isEmpty { return }
    // `callsChanged` must follow the loop: the call of one instance must not interrupt another
    // instance that also has a call. The entitlements come last, so that an interrupted application
    // has time to react.
    callsChanged(in: &turn)
    for id in changed { updateInstance(id, in: &turn) { $0.reconsiderAudio(in: &$1) } }
  }

  /// Forgets all calls and ends their interruptions, because the daemon stops.
  mutating func forgetCalls(in turn: inout Turn) {
    if calls.isEmpty { return }
    calls = Calls()
    for user in usersWithAudio { arbitrateAudio(of: user, in: &turn) }
  }

  /// Puts calls on hold, and begins and ends interruptions, after a change of the calls.
  private mutating func callsChanged(in turn: inout Turn) {
    holdCalls(in: &turn)
    for user in usersWithAudio { arbitrateAudio(of: user, in: &turn) }
  }

  /// The users who have an instance with audio, ordered by id.
  private var usersWithAudio: [UserID] {
    let owners = instances.boxes.values.lazy.filter { $0.value.audio != nil }
      .map(\.value.application.owner)
    return Set(owners).sorted()
  }

  // MARK: Hold

  /// Puts the call of an application on hold while its user has a newer call. An answered call of a
  /// modem is a call of every user. Ends the hold of the newest call.
  private mutating func holdCalls(in turn: inout Turn) {
    var newest: [UserID: Calls.Call] = [:]
    let owners = calls.answered.map { call in
      call.instance.flatMap { instances.boxes[$0]?.value.application.owner }
    }
    let users = Set(owners.compactMap { $0 })
    for (call, owner) in zip(calls.answered, owners) {
      for user in users where owner == nil || owner == user { newest[user] = call }
    }
    for (call, owner) in zip(calls.answered, owners) {
      guard let id = call.instance, let owner else { continue }
      let isHeld = calls.held.contains(id)
      let mustBeHeld = newest[owner] != call
      guard isHeld != mustBeHeld else { continue }
      if mustBeHeld { calls.held.append(id) } else { calls.held.removeAll { $0 == id } }
      updateInstance(id, in: &turn) { instance, turn in
        if instance.termination != nil { return }
        instance.record(.callChanged(mustBeHeld ? .held : .resumed), in: &turn)
        instance.handle({ .call($0, isOnHold: mustBeHeld) }, cause: .call, in: &turn)
      }
    }
  }

  /// Ends the call and the audio session of an instance that has ended.
  mutating func audioOwnerEnded(_ instance: Instance, in turn: inout Turn) {
    let (id, user) = (instance.id, instance.application.owner)
    let hadCall = calls.hasCall(id)
    calls.setStreaming(id, false)
    calls.end(id)
    if hadCall { callsChanged(in: &turn) }
    guard sessions.audio[user] != nil else { return }
    arbitrateAudio(of: user, in: &turn)
    discardAudioIfEmpty(of: user)
  }
}

extension Instance {
  fileprivate var refusalOfCall: Refusal? {
    if termination != nil { return .terminating }
    if !backgroundModes.contains(.voip) { return .modeNotDeclared(.voip) }
    return isAware ? nil : .noEventStream
  }

  fileprivate mutating func setInCall(_ isInCall: Bool, in turn: inout Turn) {
    if isInCall { endAudioInterruption(in: &turn) }
    var next = audio ?? InstanceAudio()
    next.isInCall = isInCall
    if !isInCall, !backgroundModes.contains(.audio) { next.setGrace(until: nil) }
    changeAudio(in: &turn) { $0.audio = next }
  }
}

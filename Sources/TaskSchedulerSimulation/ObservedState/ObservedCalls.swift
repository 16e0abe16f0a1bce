import TaskSchedulerCore

/// What the checkers know about phone calls, and the messages that the current event requires.
struct ObservedCalls {
  enum Call: Hashable {
    case modem(String)
    case application(InstanceID)
  }

  /// A message to an application, or an order to the agent about the application's media player.
  enum Message: Hashable {
    case interruptionBegan(InstanceID)
    case interruptionEnded(InstanceID, shouldResume: Bool)
    case hold(InstanceID, Bool)
    case pause(InstanceID)
    case play(InstanceID)
  }

  var ringing: Set<String> = []
  /// The answered calls, the oldest first.
  var answered: [Call] = []
  var held: Set<InstanceID> = []
  /// The instances that have said that they have a call.
  var begun: Set<InstanceID> = []
  /// The instances whose streams show that they have a call.
  var streaming: Set<InstanceID> = []

  // MARK: The current event
  /// The messages that the current event requires.
  var expected: [Message] = []
  /// The instances that may run for `EventTime` because of a message of the current event,
  /// including instances without an event stream.
  var told: Set<InstanceID> = []
  /// The instances that were in the foreground at the end of their interruptions. The end of
  /// another interruption may have sent such an instance to the background just before.
  var inFrontAtEnd: Set<InstanceID> = []
  /// The suspended instance that an incoming call resumes.
  var mustWake: InstanceID?

  mutating func begin() {
    expected = []
    told = []
    inFrontAtEnd = []
    mustWake = nil
  }

  var hasModemCall: Bool {
    !ringing.isEmpty
      || answered.contains { if case .modem = $0 { true } else { false } }
  }

  func hasCall(_ id: InstanceID) -> Bool { answered.contains(.application(id)) }
}

/// The interruption of an instance's audio.
struct ObservedInterruption {
  enum Cause: Equatable { case phoneCall, application }
  enum Means: Equatable { case told(wasActive: Bool), paused, unnoticed }

  /// The present cause. It may change from `phoneCall` to `application`. It changes from
  /// `application` to `phoneCall` only if the interrupting application itself has a phone call.
  var cause: Cause
  /// The interrupting application at the last change of the cause; nil for a phone call.
  var interrupter: ApplicationKey?
  var means: Means
  var isMuted = false
}

// Phone calls (contract.md#call-interrupts).
extension ObservedState {
  func apply(_ reported: [ModemCall]) {
    calls.ringing = Set(reported.filter { !$0.isAnswered }.map(\.id))
    let present = reported.filter(\.isAnswered).map { ObservedCalls.Call.modem($0.id) }
    calls.answered.removeAll { call in
      if case .modem = call { !present.contains(call) } else { false }
    }
    for call in present where !calls.answered.contains(call) { calls.answered.append(call) }
    callsChanged()
  }

  /// Records that an incoming call lets an application run for `EventTime`
  /// (contract.md#call-application).
  func incomingCall(for key: ApplicationKey) {
    guard let instance = byKey[key], instance.ending == nil, !instance.state.isForeground
    else { return }
    if instance.state == .suspended { calls.mustWake = instance.id }
    instance.runs(until: now + limits.eventTime)
  }

  func beginCall(_ id: InstanceID) {
    guard !isRefused, self[id] != nil else { return }
    calls.begun.insert(id)
    updateCall(of: id)
  }

  func endCall(_ id: InstanceID) {
    calls.begun.remove(id)
    updateCall(of: id)
  }

  /// Determines which instances of a user have streams that show a call: a running playback stream
  /// of role phone, and a running recording stream.
  func takeCallStreams(of user: UserID) {
    var hasChanged = false
    for instance in instancesOwned(by: user) {
      let playsCall = instance.audio.streams.contains {
        $0.direction == .playback && $0.isRunning && $0.role == .phone
      }
      // A call that has begun lasts as long as its playback runs, even if the recording ends.
      if playsCall, instance.audio.isRecording || calls.streaming.contains(instance.id) {
        calls.streaming.insert(instance.id)
      } else {
        calls.streaming.remove(instance.id)
      }
      hasChanged = changeCall(of: instance.id) || hasChanged
    }
    if hasChanged { callsChanged() }
  }

  private func updateCall(of id: InstanceID) { if changeCall(of: id) { callsChanged() } }

  /// Begins or ends the call of an instance, if necessary. Returns whether a call began or ended.
  private func changeCall(of id: InstanceID) -> Bool {
    let mustHave = calls.begun.contains(id) || calls.streaming.contains(id)
    guard mustHave != calls.hasCall(id) else { return false }
    if mustHave {
      calls.answered.append(.application(id))
      if let instance = self[id] { endInterruption(of: instance, playsOn: false) }
    } else {
      calls.answered.removeAll { $0 == .application(id) }
      calls.held.remove(id)
    }
    self[id]?.audio.isInCall = mustHave
    if !mustHave, self[id]?.mayPlay == false { self[id]?.audio.graceDue = nil }
    return true
  }

  /// Ends the call and the audio session of an instance that has ended.
  func audioOwnerEnded(_ id: InstanceID, of user: UserID) {
    calls.begun.remove(id)
    calls.streaming.remove(id)
    updateCall(of: id)
    arbitrate(user)
  }

  /// Ends all interruptions by phone calls, because the daemon stops.
  func forgetCalls() {
    calls = ObservedCalls()
    for user in Set(live.map(\.key.owner)).sorted() { arbitrate(user) }
  }

  /// Determines which calls are on hold, and which instances have their audio interrupted.
  private func callsChanged() {
    for user in Set(live.map(\.key.owner)).sorted() {
      let own = calls.answered.filter { call in
        if case .application(let id) = call { self[id]?.key.owner == user } else { true }
      }
      for case .application(let id) in own {
        let mustBeHeld = own.last != .application(id)
        guard calls.held.contains(id) != mustBeHeld, let instance = self[id] else { continue }
        if mustBeHeld { calls.held.insert(id) } else { calls.held.remove(id) }
        tell(instance, .hold(id, mustBeHeld))
      }
    }
    for user in Set(live.map(\.key.owner)).sorted() { arbitrate(user) }
  }

  /// Records that an application receives a message, which it may handle for `EventTime`.
  private func tell(_ instance: ObservedInstance, _ message: ObservedCalls.Message) {
    guard instance.ending == nil else { return }
    instance.handledEvents.append((nil, now + limits.eventTime))
    calls.told.insert(instance.id)
    if instance.hasStream { calls.expected.append(message) }
  }

  // MARK: Interruptions

  /// Returns whether a phone call interrupts the audio of a user's applications. If the audio
  /// server manages roles, a call that is known only from an application's streams interrupts
  /// nothing.
  func isCalled(_ user: UserID) -> Bool {
    if calls.hasModemCall { return true }
    let managesRoles = audio.managingRoles.contains(user)
    return live.contains {
      $0.key.owner == user
        && (calls.begun.contains($0.id) || !managesRoles && calls.streaming.contains($0.id))
    }
  }

  /// Returns whether an interruption of an instance may begin. An instance that is suspended, or is
  /// about to be suspended, is muted anyway.
  func canBeInterrupted(_ instance: ObservedInstance) -> Bool {
    let isHalted =
      (instance.state == .suspended || instance.isStopping || instance.audio.muteDue != nil)
      && !instance.isEntitledByAudio
    let isHeard =
      !instance.audio.audible.isEmpty || instance.audio.isRecording && instance.hasStream
    return isHeard && instance.ending == nil && !isHalted
  }

  func beginInterruption(of instance: ObservedInstance, by cause: ObservedInterruption.Cause) {
    let interrupter = interrupter(of: instance, cause)
    defer { instance.audio.interruption?.interrupter = interrupter }
    let hasAgent = canCommand(instance.key.owner)
    if instance.hasStream, instance.handledEvents.count < policy.queuedCallbacksMax {
      // Only a phone call makes an active application inactive.
      let wasActive = cause == .phoneCall && instance.state == .active
      instance.audio.interruption = .init(cause: cause, means: .told(wasActive: wasActive))
      tell(instance, .interruptionBegan(instance.id))
      if wasActive { instance.resign() }
    } else if hasAgent, players.all[instance.id]?.isOnBus == true {
      instance.audio.interruption = .init(cause: cause, means: .paused)
      calls.expected.append(.pause(instance.id))
    } else {
      instance.audio.interruption = .init(cause: cause, means: .unnoticed, isMuted: true)
    }
  }

  /// Returns the application that interrupts an instance: the one with the newest exclusive
  /// session. Considers only sessions that began after the session of the instance.
  private func interrupter(
    of instance: ObservedInstance, _ cause: ObservedInterruption.Cause
  ) -> ApplicationKey? {
    guard cause == .application, let session = instance.audio.session else { return nil }
    let later = instancesOwned(by: instance.key.owner).filter { other in
      other.audio.session.map { $0.isExclusive && $0.begunAt > session.begunAt } ?? false
    }
    return later.max {
      ($0.audio.session?.begunAt ?? 0, $0.id) < ($1.audio.session?.begunAt ?? 0, $1.id)
    }?.key
  }

  /// Records that a phone call no longer interrupts an instance, but that an application does.
  func continueInterruption(of instance: ObservedInstance) {
    guard let means = instance.audio.interruption?.means else { return }
    let interrupter = interrupter(of: instance, .application)
    instance.audio.interruption?.cause = .application
    instance.audio.interruption?.interrupter = interrupter
    guard case .told(let wasActive) = means else { return }
    instance.audio.interruption?.means = .told(wasActive: false)
    if wasActive, instance.isCalledOut { returnToFront(instance) }
  }

  /// Ends the interruption of an instance's audio, if there is one.
  ///
  /// - Parameter playsOn: Whether the agent restarts a media player that it has paused for a phone
  ///   call. This is false if the instance itself has a call now.
  func endInterruption(of instance: ObservedInstance, playsOn: Bool = true) {
    guard let interruption = instance.audio.interruption else { return }
    let isCall = interruption.cause == .phoneCall
    instance.audio.interruption = nil
    if instance.audio.session != nil, !instance.audio.isSounding {
      instance.audio.session?.endsAt = now + limits.audioGraceTime
    }
    guard instance.ending == nil else { return }
    switch interruption.means {
    case .told(let wasActive):
      tell(instance, .interruptionEnded(instance.id, shouldResume: isCall))
      if isCall, wasActive, instance.isCalledOut { returnToFront(instance) }
    case .paused:
      guard isCall, playsOn else { return }
      if canCommand(instance.key.owner) {
        play(instance)
      } else {
        players.all[instance.id, default: .init()].mustPlay = true
      }
    case .unnoticed: if isCall { runForEvent(instance) }
    }
  }

  /// Returns whether the agent of a user can call media players.
  func canCommand(_ user: UserID) -> Bool {
    audio.agents[user] == .some(nil) && !players.stale.contains(user)
  }

  /// Records that the agent makes the media player of an instance play.
  func play(_ instance: ObservedInstance) {
    guard instance.ending == nil else { return }
    calls.expected.append(.play(instance.id))
    runForEvent(instance)
  }

  private func runForEvent(_ instance: ObservedInstance) {
    if instance.state.isForeground {
      calls.inFrontAtEnd.insert(instance.id)
    } else {
      instance.runs(until: now + limits.eventTime)
    }
  }

  /// Takes the record of the end of an interruption. An instance that is in the background now may
  /// run for `EventTime`.
  func noteEndOfInterruption(of instance: ObservedInstance) {
    guard calls.inFrontAtEnd.remove(instance.id) != nil, !instance.state.isForeground
    else { return }
    instance.runs(until: now + limits.eventTime)
  }

  /// Activates an instance that was active when its audio was interrupted.
  private func returnToFront(_ instance: ObservedInstance) {
    let seat = instance.plan.seat
    let isTaken = live.contains {
      $0.isActiveOrActivating && $0.ending == nil && $0.plan.seat == seat
    }
    let isLocked = sessions.locks.keys.contains { Self.isWithin($0, seat) }
    guard instance.state == .inactive, !instance.isActivating, !isTaken, !isLocked,
      instance.mayChange(policy), !calls.hasCall(instance.id)
    else { return }
    sessions.mustBeActive.append(instance.id)
    activate(instance, isOrder: false)
  }

  /// Determines until when a suspension may wait for a mute that the daemon has already ordered.
  func noteOrderedMutes() {
    for instance in live {
      let isInterrupted = instance.audio.interruption?.isMuted == true
      guard isInterrupted || !instance.audio.muted.isEmpty else { continue }
      let waits =
        instance.state == .background && !instance.audio.audible.isEmpty && !instance.isStopping
        && !instance.isBusy(at: now) && instance.tasks.isEmpty && instance.retryDue == nil
      if waits {
        instance.audio.muteDue = instance.audio.muteDue ?? now + limits.audioMuteTime
      } else if isInterrupted {
        instance.audio.muteDue = nil
      }
    }
  }

  /// Records that the user controls the media player of an instance. If the agent has paused the
  /// player, this ends the interruption. If the instance then plays, it begins a new session.
  func forgetPause(of instance: ObservedInstance) {
    guard instance.audio.interruption?.means == .paused else { return }
    instance.audio.interruption = nil
    instance.audio.session = nil
  }
}

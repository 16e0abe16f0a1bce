import TaskSchedulerCore

/// What the checkers know about phone calls, and the messages that the current event requires.
struct ObservedCalls {
  enum Call: Hashable {
    case modem(String)
    case application(InstanceID)
  }

  /// A message to an application, or an order to the agent about its media player.
  enum Message: Hashable {
    case interruptionBegan(InstanceID)
    case interruptionEnded(InstanceID)
    case hold(InstanceID, Bool)
    case pause(InstanceID)
    case play(InstanceID)
  }

  var ringing: Set<String> = []
  /// The answered calls, the oldest first.
  var answered: [Call] = []
  var held: Set<InstanceID> = []
  /// The messages of the current event.
  var expected: [Message] = []

  var hasModemCall: Bool {
    !ringing.isEmpty
      || answered.contains { if case .modem = $0 { true } else { false } }
  }

  func hasCall(_ id: InstanceID) -> Bool { answered.contains(.application(id)) }
}

/// The interruption of an instance's audio by a phone call.
struct ObservedInterruption {
  enum Means: Equatable { case told(wasActive: Bool), paused, unnoticed }

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

  func beginCall(_ id: InstanceID) {
    guard !isRefused, let instance = self[id], !calls.hasCall(id) else { return }
    calls.answered.append(.application(id))
    endInterruption(of: instance)
    instance.audio.isInCall = true
    callsChanged()
  }

  func endCall(_ id: InstanceID) {
    guard calls.hasCall(id) else { return }
    calls.answered.removeAll { $0 == .application(id) }
    calls.held.remove(id)
    self[id]?.audio.isInCall = false
    if self[id]?.mayPlay == false { self[id]?.audio.graceDue = nil }
    callsChanged()
  }

  /// Ends all interruptions, because the daemon stops.
  func forgetCalls() {
    calls = ObservedCalls()
    for user in Set(live.map(\.key.owner)).sorted() { interruptAudio(of: user, begun: []) }
  }

  /// Determines which calls are on hold, and whose audio is interrupted.
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
    for user in Set(live.map(\.key.owner)).sorted() { interruptAudio(of: user, begun: []) }
  }

  /// Records that an application receives a message, which it may handle for `EventTime`.
  private func tell(_ instance: ObservedInstance, _ message: ObservedCalls.Message) {
    guard instance.ending == nil else { return }
    instance.handledEvents.append((nil, now + limits.eventTime))
    if instance.hasStream { calls.expected.append(message) }
  }

  /// Begins and ends the interruptions of a user's audio.
  ///
  /// - Parameter begun: The instances that have become audible with the current event.
  func interruptAudio(of user: UserID, begun: Set<InstanceID>) {
    let isCalling =
      calls.hasModemCall || live.contains { $0.key.owner == user && calls.hasCall($0.id) }
    for instance in live where instance.key.owner == user {
      if !isCalling {
        endInterruption(of: instance)
      } else if !instance.audio.audible.isEmpty, !instance.audio.isInCall, instance.ending == nil,
        !isHalted(instance)
      {
        if instance.audio.interruption == nil {
          beginInterruption(of: instance)
        } else if begun.contains(instance.id) {
          instance.audio.interruption?.isMuted = true
        }
      }
    }
  }

  /// Returns whether an instance is suspended, or about to be suspended, after the current event.
  /// It is muted anyway.
  private func isHalted(_ instance: ObservedInstance) -> Bool {
    (instance.state == .suspended || instance.isStopping || instance.audio.muteDue != nil)
      && !instance.isEntitledByAudio
  }

  private func beginInterruption(of instance: ObservedInstance) {
    let hasAgent = canCommand(instance.key.owner)
    let wasActive = instance.state == .active
    if instance.hasStream, instance.eventDues.count < policy.queuedCallbacksMax {
      instance.audio.interruption = .init(means: .told(wasActive: wasActive))
      tell(instance, .interruptionBegan(instance.id))
      if wasActive { instance.resign() }
    } else if hasAgent, players.all[instance.id]?.isOnBus == true {
      instance.audio.interruption = .init(means: .paused)
      calls.expected.append(.pause(instance.id))
    } else {
      instance.audio.interruption = .init(means: .unnoticed, isMuted: true)
    }
  }

  private func endInterruption(of instance: ObservedInstance) {
    guard let interruption = instance.audio.interruption else { return }
    instance.audio.interruption = nil
    guard instance.ending == nil else { return }
    switch interruption.means {
    case .told(let wasActive):
      tell(instance, .interruptionEnded(instance.id))
      if wasActive, instance.isCalledOut { returnToFront(instance) }
    case .paused:
      if canCommand(instance.key.owner) {
        play(instance)
      } else {
        players.all[instance.id, default: .init()].mustPlay = true
      }
    case .unnoticed: runForEvent(instance)
    }
  }

  /// Returns whether the agent of a user can call media players.
  func canCommand(_ user: UserID) -> Bool {
    audio.agents[user] == .some(nil) && !players.stale.contains(user)
  }

  /// Records that the agent plays the player of an instance.
  func play(_ instance: ObservedInstance) {
    guard instance.ending == nil else { return }
    calls.expected.append(.play(instance.id))
    runForEvent(instance)
  }

  private func runForEvent(_ instance: ObservedInstance) {
    if !instance.state.isForeground { instance.runs(until: now + limits.eventTime) }
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

  /// Determines until when a suspension may wait for a mute that the daemon has ordered before.
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

  /// Records that the user controls the media player of an instance, which the agent has paused.
  func forgetPause(of instance: ObservedInstance) {
    if instance.audio.interruption?.means == .paused { instance.audio.interruption = nil }
  }
}

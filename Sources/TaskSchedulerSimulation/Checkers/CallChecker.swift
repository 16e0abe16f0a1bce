import TaskSchedulerCore

/// Checks that a phone call interrupts the audio of all other applications that it concerns, and
/// that its end ends each interruption (contract.md#call-interrupts); and that the newest call of a
/// user puts the earlier ones on hold (contract.md#call-hold).
struct CallChecker: Checker {
  static let name = "calls"

  private var sent: [ObservedCalls.Message] = []

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) { sent = [] }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    if case .application(.openStream) = observed.event { return }
    switch effect {
    case .notify(let id, .audioInterruption(_, .began)): sent.append(.interruptionBegan(id))
    case .notify(let id, .audioInterruption(_, .ended(let shouldResume))):
      try require(shouldResume, "instance \(id.number) played, but must not resume")
      sent.append(.interruptionEnded(id))
    case .notify(let id, .call(_, let isOnHold)): sent.append(.hold(id, isOnHold))
    case .remote(.command(_, let id, let command)):
      if case .operation(.remoteControl) = observed.event { return }
      if command == .pause { sent.append(.pause(id)) }
      if command == .play { sent.append(.play(id)) }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .kill, .release, .checkTracer, .record, .resources,
      .dropPicture, .audio, .remote(.present):
      break
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if case .application(.openStream) = observed.event { return }
    if case .scheduler(.stop) = observed.event { return }
    for message in Set(sent + observed.calls.expected) {
      let count = sent.count { $0 == message }
      let expected = observed.calls.expected.count { $0 == message }
      try require(
        count == expected, "the message \(message) is sent \(count) times in place of \(expected)")
    }
    for instance in observed.live where instance.ending == nil {
      let isCalling =
        observed.calls.hasModemCall
        || observed.live.contains {
          $0.key.owner == instance.key.owner && observed.calls.hasCall($0.id)
        }
      try require(
        isCalling || instance.audio.interruption == nil,
        "the audio of \(instance.name) is interrupted without a call")
    }
  }
}

import TaskSchedulerCore

/// Checks the messages and orders about interruptions of audio and about phone calls.
///
/// A call of an application interrupts the audio of the other applications of its user. A call of a
/// modem interrupts the audio of all applications (contract.md#call-interrupts). An exclusive
/// application that begins to play interrupts the other exclusive applications
/// (contract.md#audio-takeover). Each interruption ends with its cause. The interrupted application
/// may then play again only if the cause was a phone call. The newest call of a user puts the
/// earlier ones on hold (contract.md#call-hold). An incoming call resumes the application that
/// `CallApplication` names (contract.md#call-application).
struct CallChecker: Checker {
  static let name = "calls"

  private var sent: [ObservedCalls.Message] = []

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) { sent = [] }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    if case .application(.openStream) = observed.event { return }
    switch effect {
    case .notify(let id, .audioInterruption(_, .began)): sent.append(.interruptionBegan(id))
    case .notify(let id, .audioInterruption(_, .ended(let shouldResume))):
      sent.append(.interruptionEnded(id, shouldResume: shouldResume))
    case .notify(let id, .call(_, let isOnHold)): sent.append(.hold(id, isOnHold))
    case .remote(.command(_, let id, let command)):
      if case .operation(.remoteControl) = observed.event { return }
      if command == .pause { sent.append(.pause(id)) }
      if command == .play { sent.append(.play(id)) }
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .suspend, .resume, .terminate, .kill, .release, .checkTracer, .record, .resources,
      .dropPicture, .audio, .remote(.present), .location:
      break
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if case .application(.openStream) = observed.event { return }
    if case .scheduler(.stop) = observed.event { return }
    if let instance = observed.calls.mustWake.flatMap({ observed[$0] }) {
      try require(
        instance.state == .background,
        "\(instance.key.id.name) is \(instance.state) after an incoming call")
    }
    for message in Set(sent + observed.calls.expected) {
      let count = sent.count { $0 == message }
      let expected = observed.calls.expected.count { $0 == message }
      try require(
        count == expected, "the message \(message) is sent \(count) times instead of \(expected)")
    }
  }
}

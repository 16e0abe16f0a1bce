import TaskSchedulerCore

/// Checks that a media player runs when another program calls it (contract.md#remote-control). A
/// read resumes the player only once in `RemoteReadInterval` (contract.md#remote-read). Nothing
/// else resumes an application for remote control.
struct PlayerCallChecker: Checker {
  static let name = "player calls"
  /// The longest delay of a timer, in nanoseconds.
  let slack: UInt64

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard let (instance, _, cause) = observed.transition(effect) else { return }
    let calls = observed.players.mustRun.filter { $0.id == instance.id }.map(\.call)
    if cause == .remoteRead {
      try require(
        calls.contains(.read), "\(instance.name) is resumed for a read, but no program read it")
    }
    if cause == .remoteControl {
      try require(
        calls.contains(.command) || observed.players.receiver == instance.id,
        "\(instance.name) is resumed for a command, but received none")
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for (id, _) in observed.players.mustRun {
      guard let instance = observed[id], instance.ending == nil else { continue }
      try require(
        instance.state != .suspended && !instance.isStopping,
        "the media player \(instance.name) was called, but does not run")
    }
    for (id, player) in observed.players.all where player.isReadWaiting {
      guard let due = player.readDue(observed.limits) else { continue }
      try require(
        max(due, observed.floor) + slack >= observed.now,
        "a read of the player of instance \(id.number) waits for too long")
    }
  }
}

/// Checks that a command reaches the application that was audible last, and no other
/// (contract.md#remote-control). Also checks which application the player `taskschedd` represents
/// (contract.md#remote-player).
struct MediaCommandChecker: Checker {
  static let name = "media commands"

  private var receivers: [InstanceID] = []
  private var reply: Reply?

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    receivers = []
    reply = nil
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .reply(let request, let reply): if request == observed.event.request { self.reply = reply }
    case .remote(.command(let user, let id, let command)):
      // A phone call also pauses players, which `CallChecker` checks.
      guard case .operation(.remoteControl) = observed.event else { return }
      try require(
        observed[id]?.key.owner == user && observed.players.all[id]?.isOnBus == true,
        "a command is sent to the player of instance \(id.number), which has no player")
      try checkCommand(command, id, observed)
    case .notify(let id, .remoteControl(_, let command)):
      // An event stream that opens again receives earlier notices again.
      if case .application(.openStream) = observed.event { return }
      try checkCommand(command, id, observed)
    case .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage, .suspend,
      .resume, .terminate, .kill, .release, .checkTracer, .record, .resources, .dropPicture,
      .audio, .remote(.present), .location:
      break
    }
  }

  private mutating func checkCommand(
    _ command: RemoteCommand, _ id: InstanceID, _ observed: ObservedState
  ) throws(Finding) {
    let wanted: RemoteCommand? =
      switch observed.event {
      case .operation(.remoteControl(_, _, let command)): command
      case .session(.remoteCommand(_, let command)): command
      case .application, .operation, .process, .scheduler, .socket, .notification, .systemChanged,
        .session, .memory, .resources, .switcher, .location:
        nil
      }
    try require(
      command == wanted && id == observed.players.receiver,
      "instance \(id.number) receives a command that is not for it")
    receivers.append(id)
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    if case .operation(.remoteControl) = observed.event { try checkReply(observed) }
    if case .session(.audio(let user, _)) = observed.event { try checkPlayer(of: user, observed) }
    if case .session(.players(let user, _)) = observed.event {
      try checkPlayer(of: user, observed)
    }
    for (_, player) in observed.players.presented {
      try require(
        observed.byKey[player.application] != nil,
        "the player taskschedd stands for \(player.application.id.name), which has ended")
    }
  }

  private func checkReply(_ observed: ObservedState) throws(Finding) {
    guard let receiver = observed.players.receiver.flatMap({ observed[$0] }) else {
      if case .refused(.nothingPlayed) = reply { return }
      return try require(false, "nothing has been audible, but a command is carried out")
    }
    if case .refused(.quotaExceeded) = reply {
      return try require(
        receiver.handledEvents.count >= observed.policy.queuedCallbacksMax,
        "a command to \(receiver.name) is refused, although it has few events to handle")
    }
    try require(
      reply == .controlled(receiver.key),
      "\(receiver.name) was audible last, but does not receive the command")
    // Without an event stream, an application receives the command later.
    let isReached = observed.players.all[receiver.id]?.isOnBus == true || receiver.hasStream
    try require(
      receivers == (isReached ? [receiver.id] : []),
      "\(receiver.name) was audible last, but is not sent the command exactly once")
  }

  private func checkPlayer(of user: UserID, _ observed: ObservedState) throws(Finding) {
    try require(
      observed.players.presented[user] == observed.rightfulPlayer(of: user),
      "the player taskschedd does not stand for the application that was audible last")
  }
}

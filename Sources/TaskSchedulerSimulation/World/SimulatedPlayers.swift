import TaskSchedulerCore

// Media players on the session buses, programs that call them, and users who press media keys.
extension Simulation {
  private static let commands: [RemoteCommand] = [
    .play, .pause, .playPause, .next, .previous, .stop, .seek(.seconds(-10)),
  ]

  /// After some of the numbered actions, performs one action on the media players of a user.
  func actOnPlayers(_ number: Int) {
    var chance = SeededGenerator(seed: options.seed, .players, UInt64(number))
    guard configuration.hasSessionAgents, chance.happens(400) else { return }
    let user = chance.pick(configuration.keys).owner
    switch chance.below(100) {
    case 0..<25: changePlayers(of: user, &chance)
    case 25..<65: callPlayer(of: user, &chance)
    case 65..<85:
      send(.operation(.remoteControl(request(nil), user, chance.pick(Self.commands))))
    case 85..<95:
      guard sessions[user]?.presentsPlayer == true else { return }
      send(.remoteCommand(user, chance.pick(Self.commands)), of: user)
    case _: lieAboutPlayers(user, &chance)
    }
  }

  /// Lets a running process become a media player, or cease to be one.
  private func changePlayers(of user: UserID, _ chance: inout SeededGenerator) {
    let owned = processes.indices.suffix(40).filter {
      processes[$0].isAlive && !processes[$0].isStopped && processes[$0].key.owner == user
    }
    guard !owned.isEmpty else { return }
    let index = chance.pick(owned)
    if sessions[user]?.players.remove(index) == nil {
      sessions[user, default: SimulatedSession()].players.insert(index)
    }
    guard sessions[user]?.isAttached == true else { return }
    send(.players(user, players(of: user)), of: user)
  }

  /// Returns the instances of a user that are media players.
  func players(of user: UserID) -> [InstanceID] {
    (sessions[user]?.players ?? []).sorted().compactMap { index in
      processes[index].isAlive ? processes[index].instance : nil
    }
  }

  private func callPlayer(of user: UserID, _ chance: inout SeededGenerator) {
    let players = players(of: user)
    guard sessions[user]?.isAttached == true, !players.isEmpty else { return }
    let id = chance.pick(players)
    let call: PlayerCall = chance.happens(400) ? .command : .read
    for _ in 0..<(chance.happens(200) ? 5 : 1) {
      let lag = chance.happens(faults[.messagesAreSlow]) ? chance.below(Nanoseconds.second) : 0
      send(.playerCalled(user, id, call), of: user, after: lag)
    }
    // The second read comes when the player may be suspended again.
    if call == .read, chance.happens(500) {
      let lag = Nanoseconds.second + chance.below(3 * Nanoseconds.second)
      schedule(after: lag, .arrives(.session(.playerCalled(user, id, .read))))
    }
  }

  /// Reports players of other users, and of an instance that never existed.
  private func lieAboutPlayers(_ user: UserID, _ chance: inout SeededGenerator) {
    guard sessions[user]?.isAttached == true else { return }
    let others = processes.suffix(8).compactMap(\.instance) + [InstanceID(1 << 40)]
    if chance.happens(500) {
      send(.playerCalled(user, chance.pick(others), .command), of: user)
    } else {
      send(.players(user, players(of: user) + others), of: user)
    }
  }

  /// Carries out an order to an agent about media players. A running player obeys the commands to
  /// pause and to play.
  func carryOut(_ effect: RemoteEffect) {
    switch effect {
    case .command(let user, let id, let command):
      guard command == .pause || command == .play, let (index, process) = process(of: id),
        process.isAlive, !process.isStopped, sessions[user]?.isAttached == true
      else { return }
      sessions[user]?.audio.setRunning(command == .play, of: index)
      send(.audio(user, audioSnapshot(of: user)), of: user, after: 2 * Nanoseconds.millisecond)
    case .present(let user, let player): sessions[user]?.presentsPlayer = player != nil
    }
  }
}

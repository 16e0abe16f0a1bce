import TaskSchedulerCore

/// What the checkers know about the media players of all users, and what the current event
/// requires.
struct ObservedPlayers {
  /// An instance that is a media player, or has been audible. Instants are in nanoseconds.
  struct Player {
    /// Whether the instance is a media player on the session bus.
    var isOnBus = false
    /// The instant at which the instance last became audible, or ceased to be audible.
    var audibleAt: UInt64?
    /// The last instant at which the instance began to run because another program read its player.
    var readAt: UInt64?
    /// Whether a read waits until `RemoteReadInterval` has passed.
    var isReadWaiting = false

    /// Whether an agent must start the player again as soon as possible, because an agent has
    /// paused the player.
    var mustPlay = false

    /// The instant at which a read no longer has to wait.
    func readDue(_ limits: Limits) -> UInt64? { readAt.map { $0 + limits.remoteReadInterval } }
  }

  var all: [InstanceID: Player] = [:]
  /// What the agents show as the media player `taskschedd`.
  var presented: [UserID: RemotePlayer] = [:]
  /// The users whose players are not known: no agent has reported them since an agent disconnected
  /// or the daemon restarted.
  var stale: Set<UserID> = []

  // MARK: The current event
  /// The instances that must run because of a call to their media player, and the kind of the call.
  var mustRun: [(id: InstanceID, call: PlayerCall)] = []
  /// The instance that must receive a command.
  var receiver: InstanceID?

  mutating func begin() {
    mustRun = []
    receiver = nil
  }

  /// Records that an instance is no longer a media player on the session bus.
  mutating func leaveBus(_ id: InstanceID) {
    all[id]?.isOnBus = false
    all[id]?.isReadWaiting = false
    if let player = all[id], player.audibleAt == nil, !player.mustPlay { all[id] = nil }
  }
}

extension ObservedInstance {
  /// Whether the application receives commands as notices if it is no media player on the bus.
  var takesRemoteControl: Bool { isAware && plan.modes.contains(.audio) }
}

// Remote control (contract.md#remote-control).
extension ObservedState {
  func apply(players ids: [InstanceID], of user: UserID) {
    let own = live.filter { $0.key.owner == user }.map(\.id).sorted()
    for id in own where !ids.contains(id) && players.all[id]?.isOnBus == true {
      players.leaveBus(id)
    }
    let isStale = players.stale.remove(user) != nil
    let fresh = own.filter {
      ids.contains($0) && (isStale || players.all[$0]?.isOnBus != true)
    }
    for id in fresh { players.all[id, default: .init()].isOnBus = true }
    for id in fresh { playerCalled(.read, of: id, by: user) }
    for id in own where ids.contains(id) && players.all[id]?.mustPlay == true {
      players.all[id]?.mustPlay = false
      if let instance = self[id] { play(instance) }
    }
  }

  func playerCalled(_ call: PlayerCall, of id: InstanceID, by user: UserID) {
    guard let instance = self[id], instance.key.owner == user, instance.ending == nil,
      let player = players.all[id], player.isOnBus
    else { return }
    if call == .command {
      // A paused player in the foreground runs, and also answers the read that waited.
      let isPaused = player.mustPlay || instance.audio.interruption?.means == .paused
      if isPaused, instance.state.isForeground {
        players.all[id]?.isReadWaiting = false
      }
      players.all[id]?.mustPlay = false
      forgetPause(of: instance)
    }
    if instance.state.isForeground { return }
    switch call {
    case .command:
      instance.runs(until: now + limits.eventTime)
    case .read:
      if let due = player.readDue(limits), now < due {
        if instance.state == .suspended || instance.isStopping || instance.audio.muteDue != nil {
          players.all[id]?.isReadWaiting = true
        }
        return
      }
      players.all[id]?.readAt = now
      instance.runs(until: now + limits.remoteReadTime)
    }
    players.all[id]?.isReadWaiting = false
    players.mustRun.append((id, call))
  }

  /// Resumes the players whose reads have waited long enough, when a deadline is reached.
  func readDeadlineReached() {
    for (id, player) in players.all where player.isReadWaiting {
      guard let due = player.readDue(limits), due <= now, let instance = self[id] else { continue }
      players.all[id]?.isReadWaiting = false
      playerCalled(.read, of: id, by: instance.key.owner)
    }
  }

  /// Returns the instance of a user that was audible last. An instance that is still audible takes
  /// precedence.
  func lastAudible(
    of user: UserID, where accepts: (ObservedPlayers.Player, ObservedInstance) -> Bool
  ) -> InstanceID? {
    let heard = live.filter { instance in
      guard instance.key.owner == user, instance.ending == nil,
        let player = players.all[instance.id], player.audibleAt != nil
      else { return false }
      return accepts(player, instance)
    }
    return heard.map { instance in
      (
        rank: instance.audio.audible.isEmpty ? 0 : 1,
        at: players.all[instance.id]?.audibleAt ?? 0, id: instance.id
      )
    }.max { $0 < $1 }?.id
  }

  /// Returns what the agent of a user must show as the media player `taskschedd`.
  func rightfulPlayer(of user: UserID) -> RemotePlayer? {
    lastAudible(of: user) { !$0.isOnBus && $1.takesRemoteControl }.flatMap { self[$0] }.map {
      RemotePlayer($0.key, isPlaying: !$0.audio.audible.isEmpty)
    }
  }

  /// Records that an instance received a command.
  func noteCommand(_ instance: ObservedInstance) {
    if players.all[instance.id]?.isOnBus != true {
      instance.handledEvents.append((nil, now + limits.eventTime))
    } else {
      players.all[instance.id]?.mustPlay = false
      forgetPause(of: instance)
      if instance.state.isForeground { return }
      instance.runs(until: now + limits.eventTime)
    }
  }

  func apply(_ effect: RemoteEffect) {
    switch effect {
    case .command: break
    case .present(let user, let player): players.presented[user] = player
    }
  }
}

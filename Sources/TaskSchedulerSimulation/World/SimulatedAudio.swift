import TaskSchedulerCore

/// The audio server of a user's session.
struct SimulatedAudio {
  struct Stream {
    /// The index of the process that holds the stream.
    var process: Int
    var direction: AudioStream.Direction
    var isRunning: Bool
    var isMuted: Bool
    /// Whether the server began the stream muted, because an earlier stream ended muted.
    let beganMuted: Bool
    /// Whether the process plays silence.
    var isSilent: Bool
  }

  /// The streams that the agent measures.
  var measured: Set<AudioStreamID> = []

  /// The number of the running server.
  private var server: UInt64 = 1
  private var streamLast: UInt64 = 0
  private(set) var streams: [AudioStreamID: Stream] = [:]
  /// The applications whose mute the server remembers.
  private var remembered: Set<ApplicationKey> = []

  /// The streams, ordered by their ids.
  var ids: [AudioStreamID] { streams.keys.sorted() }

  mutating func begin(
    _ process: Int, of key: ApplicationKey, _ direction: AudioStream.Direction, isSilent: Bool
  ) {
    streamLast += 1
    let isMuted = direction == .playback && remembered.contains(key)
    streams[AudioStreamID(server: server, index: streamLast)] = Stream(
      process: process, direction: direction, isRunning: true, isMuted: isMuted,
      beganMuted: isMuted, isSilent: isSilent)
  }

  mutating func toggle(_ id: AudioStreamID) { streams[id]?.isRunning.toggle() }

  mutating func toggleSilence(_ id: AudioStreamID) { streams[id]?.isSilent.toggle() }

  /// Pauses or continues all streams of a process.
  mutating func setRunning(_ isRunning: Bool, of process: Int) {
    for (id, stream) in streams where stream.process == process && stream.direction == .playback {
      streams[id]?.isRunning = isRunning
    }
  }

  mutating func pauseAll() {
    for id in streams.keys { streams[id]?.isRunning = false }
  }

  mutating func end(_ id: AudioStreamID) { streams[id] = nil }

  mutating func mute(_ id: AudioStreamID, of key: ApplicationKey, _ isMuted: Bool) {
    streams[id]?.isMuted = isMuted
    if isMuted { remembered.insert(key) } else { remembered.remove(key) }
  }

  /// Ends all streams, and begins with another number.
  mutating func restart() {
    streams = [:]
    server += 1
  }
}

// The actions of players and recorders, and of the agent that reports them. Agents report late,
// report wrong streams, carry out orders late, and die.
extension Simulation {
  /// After some actions, performs one action on the audio server of a user.
  func actOnAudio(_ number: Int) {
    var chance = SeededGenerator(seed: options.seed, .audio, UInt64(number))
    guard configuration.hasSessionAgents, chance.happens(500) else { return }
    let user = chance.pick(configuration.keys).owner
    switch chance.below(100) {
    case 0..<45: beginStream(of: user, &chance)
    case 45..<70: changeStream(of: user, &chance)
    case 70..<85: endStream(of: user, &chance)
    case 85..<90: sessions[user]?.audio.restart()
    case 90..<95: return lieAboutAudio(user, &chance)
    case 95..<98:
      return post(.session(.recordingChosen(chance.pick(configuration.keys))))
    case _: break
    }
    reportAudio(of: user, &chance)
  }

  private func beginStream(of user: UserID, _ chance: inout SeededGenerator) {
    let owned = processes.indices.suffix(40).filter {
      processes[$0].isAlive && !processes[$0].isStopped && processes[$0].key.owner == user
    }
    guard !owned.isEmpty else { return }
    let index = chance.pick(owned)
    let direction: AudioStream.Direction = chance.happens(800) ? .playback : .recording
    sessions[user, default: SimulatedSession()].audio.begin(
      index, of: processes[index].key, direction, isSilent: chance.happens(400))
  }

  /// Pauses or continues a stream of a running process, or lets it play or not play silence.
  private func changeStream(of user: UserID, _ chance: inout SeededGenerator) {
    let ids = sessions[user]?.audio.ids.filter { id in
      sessions[user]?.audio.streams[id].map { !processes[$0.process].isStopped } ?? false
    }
    guard let ids, !ids.isEmpty else { return }
    let id = chance.pick(ids)
    if chance.happens(400) {
      sessions[user]?.audio.toggleSilence(id)
    } else {
      sessions[user]?.audio.toggle(id)
    }
  }

  private func endStream(of user: UserID, _ chance: inout SeededGenerator) {
    guard let ids = sessions[user]?.audio.ids, !ids.isEmpty else { return }
    sessions[user]?.audio.end(chance.pick(ids))
  }

  /// Reports the streams of a user, at once or later.
  func reportAudio(of user: UserID, _ chance: inout SeededGenerator) {
    guard sessions[user]?.isAttached == true else { return }
    let lag = chance.happens(faults[.messagesAreSlow]) ? chance.below(Nanoseconds.second) : 0
    send(.audio(user, audioSnapshot(of: user)), of: user, after: lag)
  }

  func audioSnapshot(of user: UserID) -> AudioSnapshot {
    guard let audio = sessions[user]?.audio else { return AudioSnapshot() }
    for id in audio.ids {
      guard let stream = audio.streams[id], !processes[stream.process].isAlive else { continue }
      sessions[user]?.audio.end(id)
    }
    let streams = sessions[user]?.audio.streams ?? [:]
    let measured = sessions[user]?.audio.measured ?? []
    return AudioSnapshot(
      streams.keys.sorted().compactMap { id in
        streams[id].map {
          AudioStream(
            id, of: processes[$0.process].instance, $0.direction, isRunning: $0.isRunning,
            isMuted: $0.isMuted, isSilent: $0.isSilent && measured.contains(id))
        }
      })
  }

  /// Reports streams of other users, and of an instance that never existed.
  private func lieAboutAudio(_ user: UserID, _ chance: inout SeededGenerator) {
    guard sessions[user]?.isAttached == true else { return }
    var snapshot = audioSnapshot(of: user)
    let server: UInt64 = 1 << 50
    snapshot.streams.append(
      AudioStream(AudioStreamID(server: server, index: 0), of: InstanceID(1 << 40)))
    for (index, process) in processes.suffix(8).enumerated()
    where process.instance != nil && process.key.owner != user {
      snapshot.streams.append(
        AudioStream(
          AudioStreamID(server: server, index: UInt64(index + 1)), of: process.instance,
          isMuted: chance.happens(300)))
    }
    send(.audio(user, snapshot), of: user)
  }

  /// Sends the agent of a user an order of the daemon.
  func carryOut(_ effect: AudioEffect) {
    // The simulated world has no notices.
    guard let user = effect.user, let session = sessions[user], session.isAttached,
      !effect.streams.isEmpty
    else { return }
    var chance = draw(.audio)
    let isSlow = chance.happens(faults[.messagesAreSlow])
    let lag = chance.below(isSlow ? Nanoseconds.second : 5 * Nanoseconds.millisecond)
    // The orders arrive in their order.
    let arrival = max(session.orderLast, now + lag)
    sessions[user]?.orderLast = arrival
    schedule(after: arrival - now, .orderArrives(effect, attachment: session.attachment))
  }

  /// Carries out an order, unless the agent that received it has died.
  func carryOutOrder(_ order: AudioEffect, attachment: Int) {
    guard let user = order.user, let session = sessions[user], session.isAttached,
      session.attachment == attachment
    else { return }
    switch order {
    case .mute(_, let ids): setMuted(ids, of: user, true)
    case .unmute(_, let ids): setMuted(ids, of: user, false)
    case .measure(_, let ids): sessions[user]?.audio.measured.formUnion(ids)
    case .stopMeasuring(_, let ids): sessions[user]?.audio.measured.subtract(ids)
    case .showRecording, .hideRecording: break
    }
    send(.audio(user, audioSnapshot(of: user)), of: user)
  }

  private func setMuted(_ ids: [AudioStreamID], of user: UserID, _ isMuted: Bool) {
    for id in ids {
      guard let stream = sessions[user]?.audio.streams[id] else { continue }
      sessions[user]?.audio.mute(id, of: processes[stream.process].key, isMuted)
    }
  }

  /// Sends all orders again to an agent that has attached, or that the daemon has taken over.
  func repeatOrders(to user: UserID) {
    guard isUp else { return }
    let orders = pump.scheduler.audioOrders(for: user)
    carryOut(AudioEffect.mute(user, orders.muted))
    carryOut(AudioEffect.unmute(user, orders.unmuted))
    carryOut(AudioEffect.measure(user, orders.measured))
    if let player = pump.scheduler.remotePlayer(for: user) {
      carryOut(RemoteEffect.present(user, player))
    }
  }

  /// Attaches all agents, ends all calls, and pauses all streams later.
  func endAudioFaults() {
    guard configuration.hasSessionAgents else { return }
    endCalls()
    for user in Set(configuration.keys.map(\.owner)).sorted() {
      attach(user)
      schedule(after: 30 * Nanoseconds.second, .playersPause(user))
    }
  }

  func pausePlayers(of user: UserID) {
    sessions[user]?.audio.pauseAll()
    send(.audio(user, audioSnapshot(of: user)), of: user)
  }

  /// Checks that no stream is muted, except those of suspended applications and those that the
  /// server began muted.
  func checkMutes() {
    for user in sessions.keys.sorted() {
      let streams = sessions[user]?.audio.streams ?? [:]
      for id in streams.keys.sorted() {
        guard let stream = streams[id], stream.isMuted, !stream.beganMuted,
          processes[stream.process].isAlive, !processes[stream.process].isStopped
        else { continue }
        return report(
          "mutes",
          "stream \(id.index) of \(processes[stream.process].key.id.name) is still muted")
      }
    }
  }
}

extension AudioEffect {
  /// The user whose streams the order names; nil for a notice.
  fileprivate var user: UserID? {
    switch self {
    case .mute(let user, _), .unmute(let user, _), .measure(let user, _),
      .stopMeasuring(let user, _):
      user
    case .showRecording, .hideRecording: nil
    }
  }

  fileprivate var streams: [AudioStreamID] {
    switch self {
    case .mute(_, let ids), .unmute(_, let ids), .measure(_, let ids), .stopMeasuring(_, let ids):
      ids
    case .showRecording, .hideRecording: []
    }
  }
}

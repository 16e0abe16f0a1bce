import TaskSchedulerCore

/// The audio server of a user's session.
struct SimulatedAudio {
  struct Stream {
    /// The index of the process that holds the stream.
    var process: Int
    var role: AudioRole
    /// The volume of the loudest channel. 0 for a recording stream.
    var volume: Int
    /// Whether the present volume comes from an order of the daemon to lower the volume. This is
    /// also true of a new stream for which the server remembered such a volume.
    var isLowered: Bool
    var isRunning: Bool
    var isMuted: Bool
    /// The number of the entry in which the server remembers the stream's mute and volume for the
    /// next stream.
    let memory: UInt32
    /// Whether the process plays silence.
    var isSilent: Bool
    /// Whether the daemon has handled a report in which the stream runs. Before such a report, the
    /// daemon neither ends the mute of the stream nor restores its volume.
    var hasRun = false
  }

  /// The streams that the agent measures.
  var measured: Set<AudioStreamID> = []
  /// The streams that the agent has muted by orders of the daemon, and the volumes that it has
  /// lowered. When the agent stops, it undoes both. When it dies, it undoes neither.
  var muted: Set<AudioStreamID> = []
  var lowered: [AudioStreamID: AudioVolumeChange] = [:]
  /// The number of the last order to confirm all earlier orders that the agent has carried out.
  var confirmed: UInt64 = 0

  /// The number of the running server.
  private(set) var server: UInt64 = 1
  /// The number of the last stream. Servers number the streams of each direction separately.
  private var streamLast: [AudioStream.Direction: UInt64] = [:]
  private(set) var streams: [AudioStreamID: Stream] = [:]
  /// What the server remembers for the next stream.
  private struct Memory {
    var isMuted = false
    var volume = AudioStream.fullVolume
    var isLowered = false
  }

  private var memories: [UInt32: Memory] = [:]

  /// The streams, ordered by their ids.
  var ids: [AudioStreamID] { streams.keys.sorted() }

  mutating func begin(
    _ process: Int, of key: ApplicationKey, _ direction: AudioStream.Direction, role: AudioRole,
    isSilent: Bool
  ) {
    streamLast[direction, default: 0] += 1
    let isPlaying = direction == .playback
    let number = isPlaying ? Self.memory(of: key, role) : 0
    let memory = memories[number] ?? Memory()
    // The servers of two users never have the same number.
    let server = UInt64(key.owner.uid) << 32 | self.server
    let id = AudioStreamID(server: server, direction, index: streamLast[direction, default: 0])
    streams[id] = Stream(
      process: process, role: role, volume: isPlaying ? memory.volume : 0,
      isLowered: isPlaying && memory.isLowered, isRunning: true,
      isMuted: isPlaying && memory.isMuted,
      memory: number, isSilent: isSilent)
  }

  /// Returns the number of the server's entry for a stream. Streams of different applications with
  /// the same role share an entry, except those with the role `other`.
  private static func memory(of key: ApplicationKey, _ role: AudioRole) -> UInt32 {
    switch role {
    case .other: key.id.name.utf8.reduce(10) { $0 &* 31 &+ UInt32($1) } | 16
    case .phone: 1
    case .event: 2
    case .notification: 3
    case .accessibility: 4
    }
  }

  /// Records that the daemon has handled a report.
  mutating func reported(_ snapshot: AudioSnapshot) {
    for stream in snapshot.streams where stream.isRunning { streams[stream.id]?.hasRun = true }
  }

  mutating func toggle(_ id: AudioStreamID) { streams[id]?.isRunning.toggle() }

  mutating func toggleSilence(_ id: AudioStreamID) { streams[id]?.isSilent.toggle() }

  /// Pauses or continues all playback streams of a process except those of a phone call.
  mutating func setRunning(_ isRunning: Bool, of process: Int) {
    for (id, stream) in streams
    where stream.process == process && id.direction == .playback && stream.role != .phone {
      streams[id]?.isRunning = isRunning
    }
  }

  /// Pauses all streams, or only the streams of `role` if it is not nil.
  mutating func pauseAll(_ role: AudioRole? = nil) {
    for (id, stream) in streams where role == nil || stream.role == role {
      streams[id]?.isRunning = false
    }
  }

  mutating func end(_ id: AudioStreamID) { streams[id] = nil }

  mutating func mute(_ id: AudioStreamID, _ isMuted: Bool) {
    guard let stream = streams[id], id.direction == .playback else { return }
    streams[id]?.isMuted = isMuted
    memories[stream.memory, default: Memory()].isMuted = isMuted
  }

  /// Sets the volume of a playback stream.
  mutating func setVolume(_ id: AudioStreamID, _ volume: Int, isLowered: Bool) {
    guard let stream = streams[id], id.direction == .playback else { return }
    let rounded = Self.rounded(volume)
    streams[id]?.volume = rounded
    streams[id]?.isLowered = isLowered
    memories[stream.memory, default: Memory()].volume = rounded
    memories[stream.memory]?.isLowered = isLowered
  }

  /// Returns the volume that the server stores, which differs a little from the volume that it
  /// receives.
  private static func rounded(_ volume: Int) -> Int {
    volume < 1024 ? volume : volume - volume % 32
  }

  /// Restarts the server: ends all streams, and gives the server another number.
  mutating func restart() {
    streams = [:]
    server += 1
  }
}

// The actions of players and recorders, and of the agent that reports them. Agents report late,
// report wrong streams, carry out orders late, and die.
extension Simulation {
  /// After some of the numbered actions, performs one action on the audio server of a user.
  func actOnAudio(_ number: Int) {
    var chance = SeededGenerator(seed: options.seed, .audio, UInt64(number))
    guard configuration.hasSessionAgents, chance.happens(500) else { return }
    let user = chance.pick(configuration.keys).owner
    switch chance.below(100) {
    case 0..<50: beginStream(of: user, &chance)
    case 50..<52: beginCallStreams(of: user, &chance)
    case 52..<66: changeStream(of: user, &chance)
    case 66..<73: changeVolume(of: user, &chance)
    case 73..<84: endStream(of: user, &chance)
    case 84..<87: sessions[user]?.audio.restart()
    case 87..<93: return lieAboutAudio(user, &chance)
    case 93..<96:
      return post(.session(.recordingChosen(chance.pick(configuration.keys))))
    case _: break
    }
    reportAudio(of: user, &chance)
  }

  private static let roles: [AudioRole] = [
    .other, .other, .other, .other, .other, .phone, .event, .notification, .notification,
    .accessibility,
  ]

  private func beginStream(of user: UserID, _ chance: inout SeededGenerator) {
    guard let index = runningProcess(of: user, &chance) else { return }
    let direction: AudioStream.Direction = chance.happens(800) ? .playback : .recording
    sessions[user, default: SimulatedSession()].audio.begin(
      index, of: processes[index].key, direction, role: chance.pick(Self.roles),
      isSilent: chance.happens(400))
  }

  /// Begins the two streams of a phone call.
  private func beginCallStreams(of user: UserID, _ chance: inout SeededGenerator) {
    guard let index = runningProcess(of: user, &chance) else { return }
    for direction in AudioStream.Direction.allCases {
      sessions[user, default: SimulatedSession()].audio.begin(
        index, of: processes[index].key, direction, role: .phone, isSilent: false)
    }
  }

  private func runningProcess(of user: UserID, _ chance: inout SeededGenerator) -> Int? {
    let owned = processes.indices.suffix(40).filter {
      processes[$0].isAlive && !processes[$0].isStopped && processes[$0].key.owner == user
    }
    return owned.isEmpty ? nil : chance.pick(owned)
  }

  /// Pauses or continues a stream of a running process, or switches it between sound and silence.
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
            id, of: processes[$0.process].instance, role: $0.role, volume: $0.volume,
            isRunning: $0.isRunning && (id.direction == .recording || $0.volume > 0),
            isMuted: $0.isMuted, isSilent: $0.isSilent && measured.contains(id),
            memory: $0.memory)
        }
      }, managesRoles: configuration.managesRoles(ofServer: audio.server),
      confirmed: audio.confirmed)
  }

  /// Reports streams of other users, and of an instance that never existed.
  private func lieAboutAudio(_ user: UserID, _ chance: inout SeededGenerator) {
    guard sessions[user]?.isAttached == true else { return }
    var snapshot = audioSnapshot(of: user)
    let server: UInt64 = 1 << 31
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
    // An order about a notice has no user. The simulated world shows no notices.
    guard let user = effect.user, let session = sessions[user], !effect.isEmpty else { return }
    var chance = draw(.audio)
    let isSlow = chance.happens(faults[.messagesAreSlow])
    let lag = chance.below(isSlow ? Nanoseconds.second : 5 * Nanoseconds.millisecond)
    // The orders arrive in the sequence in which the daemon sent them.
    let arrival = max(session.orderLast, now + lag)
    sessions[user]?.orderLast = arrival
    schedule(after: arrival - now, .orderArrives(effect, attachment: session.attachmentKnown))
  }

  /// Carries out an order, unless the agent that received it has died.
  func carryOutOrder(_ order: AudioEffect, attachment: Int) {
    guard let user = order.user, let session = sessions[user], session.isAttached,
      session.attachment == attachment
    else { return }
    switch order {
    case .mute(_, let ids): setMuted(ids, of: user, true)
    case .unmute(_, let ids): setMuted(ids, of: user, false)
    case .setVolume(_, let changes): setVolumes(changes, of: user)
    case .measure(_, let ids): sessions[user]?.audio.measured.formUnion(ids)
    case .stopMeasuring(_, let ids): sessions[user]?.audio.measured.subtract(ids)
    case .confirm(_, let number): sessions[user]?.audio.confirmed = number
    case .showRecording, .hideRecording: break
    }
    send(.audio(user, audioSnapshot(of: user)), of: user)
  }

  private func setMuted(_ ids: [AudioStreamID], of user: UserID, _ isMuted: Bool) {
    for id in ids { sessions[user]?.audio.mute(id, isMuted) }
    if isMuted {
      sessions[user]?.audio.muted.formUnion(ids)
    } else {
      sessions[user]?.audio.muted.subtract(ids)
    }
  }

  /// Undoes what the agent of a user has changed, because the agent stops.
  func undoAudioOrders(of user: UserID) {
    guard let audio = sessions[user]?.audio else { return }
    setMuted(audio.muted.sorted(), of: user, false)
    let lowered = audio.lowered.values.sorted { $0.stream < $1.stream }
    setVolumes(lowered.map { AudioVolumeChange($0.stream, from: $0.to, to: $0.from) }, of: user)
  }

  /// Sends all orders again to an agent, because the agent has attached or a new daemon has taken
  /// over its connection.
  func repeatOrders(to user: UserID) {
    guard isUp else { return }
    let orders = pump.scheduler.audioOrders(for: user)
    carryOut(AudioEffect.mute(user, orders.muted))
    carryOut(AudioEffect.unmute(user, orders.unmuted))
    carryOut(AudioEffect.setVolume(user, orders.volumes))
    carryOut(AudioEffect.measure(user, orders.measured))
    let confirm = pump.scheduler.lastConfirm(of: user)
    if confirm > 0 { carryOut(AudioEffect.confirm(user, confirm)) }
    if let player = pump.scheduler.remotePlayer(for: user) {
      carryOut(RemoteEffect.present(user, player))
    }
  }

  /// Attaches all agents, ends all calls, and pauses the streams of the calls. The other streams
  /// pause later.
  func endAudioFaults() {
    guard configuration.hasSessionAgents else { return }
    endCalls()
    for user in Set(configuration.keys.map(\.owner)).sorted() {
      sessions[user]?.audio.pauseAll(.phone)
      attach(user)
      send(.audio(user, audioSnapshot(of: user)), of: user)
      schedule(after: 30 * Nanoseconds.second, .playersPause(user))
    }
  }

  func pausePlayers(of user: UserID) {
    sessions[user]?.audio.pauseAll()
    send(.audio(user, audioSnapshot(of: user)), of: user)
  }

  /// Checks that no stream is muted, except the streams of suspended applications. Ignores streams
  /// that have never run.
  func checkMutes() {
    for user in sessions.keys.sorted() {
      let streams = sessions[user]?.audio.streams ?? [:]
      for id in streams.keys.sorted() {
        guard let stream = streams[id], stream.isMuted, stream.hasRun,
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
  /// The user whose streams the order concerns; nil for a notice.
  fileprivate var user: UserID? {
    switch self {
    case .mute(let user, _), .unmute(let user, _), .setVolume(let user, _), .measure(let user, _),
      .stopMeasuring(let user, _), .confirm(let user, _):
      user
    case .showRecording, .hideRecording: nil
    }
  }

  /// Whether the order names streams, but the list is empty.
  fileprivate var isEmpty: Bool {
    switch self {
    case .mute(_, let ids), .unmute(_, let ids), .measure(_, let ids), .stopMeasuring(_, let ids):
      ids.isEmpty
    case .setVolume(_, let changes): changes.isEmpty
    case .confirm: false
    case .showRecording, .hideRecording: true
    }
  }
}

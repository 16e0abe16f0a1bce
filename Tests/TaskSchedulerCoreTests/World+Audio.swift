@testable import TaskSchedulerCore

// The streams of the audio server, and the applications that play the streams.
extension World {
  /// The report of all streams.
  var audioReport: Event {
    .session(
      .audio(
        mail.owner,
        AudioSnapshot(streams, managesRoles: serverManagesRoles, confirmed: confirmed)))
  }

  /// A report of all streams that is newer than all orders.
  var confirmingReport: Event {
    mutating get {
      confirmed = scheduler.lastConfirm(of: mail.owner)
      return audioReport
    }
  }

  /// The orders to mute and unmute since the last ``forget()``.
  var muteOrders: [AudioEffect] {
    effects.compactMap {
      guard case .audio(let effect) = $0 else { return nil }
      return switch effect {
      case .mute, .unmute: effect
      case .measure, .stopMeasuring, .showRecording, .hideRecording, .setVolume, .confirm: nil
      }
    }
  }

  /// Begins a stream of an instance, or continues its paused streams.
  mutating func play(
    _ id: InstanceID, _ direction: AudioStream.Direction = .playback, role: AudioRole = .other
  ) {
    var isNew = true
    for index in streams.indices
    where streams[index].instance == id && streams[index].direction == direction {
      streams[index].isRunning = true
      isNew = false
    }
    if isNew { beginStream(id, direction, role: role) }
    feed(audioReport)
  }

  /// Adds a stream, without a report.
  mutating func beginStream(
    _ id: InstanceID, _ direction: AudioStream.Direction = .playback, role: AudioRole = .other,
    volume: Int = AudioStream.fullVolume, isMuted: Bool = false, memory: UInt32? = nil
  ) {
    // Servers number the streams of each direction separately.
    let index = (streams.last { $0.direction == direction }?.id.index ?? 0) + 1
    streams.append(
      AudioStream(
        AudioStreamID(server: 1, direction, index: index), of: id, role: role, volume: volume,
        isMuted: isMuted, memory: memory ?? self.memory(of: id)))
  }

  /// Returns the number of the entry in which the server remembers the mute and volume of an
  /// application.
  func memory(of id: InstanceID) -> UInt32 {
    let name = scheduler.instances[id]?.application.id.name ?? ""
    return name.utf8.reduce(1) { $0 &* 31 &+ UInt32($1) }
  }

  /// Pauses all streams of an instance.
  mutating func pause(_ id: InstanceID) {
    for index in streams.indices where streams[index].instance == id {
      streams[index].isRunning = false
    }
    feed(audioReport)
  }

  /// Makes all streams of an instance silent, or ends their silence, and reports all streams.
  mutating func setSilent(_ id: InstanceID, _ isSilent: Bool) {
    for index in streams.indices where streams[index].instance == id {
      streams[index].isSilent = isSilent
    }
    feed(audioReport)
  }

  /// Pauses all streams of an instance, and waits for `AudioGraceTime`.
  mutating func endPlaying(_ id: InstanceID) {
    pause(id)
    advance(by: scheduler.policy.audioGraceTime)
  }

  // MARK: The session agent

  mutating func setMuted(_ ids: [AudioStreamID], _ isMuted: Bool) -> Event? {
    guard muting == .atOnce else { return nil }
    for index in streams.indices where ids.contains(streams[index].id) {
      streams[index].isMuted = isMuted
    }
    return audioReport
  }

  mutating func confirm(_ number: UInt64, of user: UserID) -> Event? {
    guard muting == .atOnce, user == mail.owner else { return nil }
    confirmed = number
    return audioReport
  }

  mutating func setVolumes(_ changes: [AudioVolumeChange]) -> Event? {
    guard muting == .atOnce else { return nil }
    for change in changes {
      for index in streams.indices
      where streams[index].id == change.stream && streams[index].volume == change.from {
        streams[index].volume = change.to
      }
    }
    return audioReport
  }

  // MARK: Applications

  /// Creates an unaware application in the foreground of a seat of its own, by default with mode
  /// audio.
  mutating func makeUnawareAtOwnSeat(
    _ app: ApplicationKey, _ modes: [BackgroundMode] = [.audio]
  ) -> InstanceID {
    adopt(app, modes: modes, at: SeatID("seat-\(app.id.name)"))
  }

  /// Creates an aware application in the foreground of a seat of its own.
  mutating func makeAwareAtOwnSeat(_ app: ApplicationKey) -> InstanceID {
    let known = scheduler.applications.all.compactMap(\.manifest).filter { $0.id != app.id }
    let manifest = Manifest(id: app.id, owner: app.owner, backgroundModes: [.audio, .voip])
    feed(.scheduler(.manifestsChanged(known + [manifest])))
    let id = register(app, at: SeatID("seat-\(app.id.name)"))
    acknowledgeAll(id)
    return id
  }

  @discardableResult
  mutating func set(_ id: InstanceID, _ session: AudioSession) -> Reply? {
    ask { .application(.setAudioSession($0, id, session)) }
  }

  /// Waits 1 ms, and then calls `play`, so that no two audio sessions begin at the same instant.
  mutating func start(
    _ id: InstanceID, _ direction: AudioStream.Direction = .playback, role: AudioRole = .other
  ) {
    advance(by: .milliseconds(1))
    play(id, direction, role: role)
  }

  func interruptions(_ id: InstanceID) -> [AudioInterruption] {
    notices(id).compactMap {
      if case .audioInterruption(_, let interruption) = $0 { interruption } else { nil }
    }
  }

  func volume(_ id: InstanceID) -> Int? {
    streams.last { $0.instance == id && $0.direction == .playback }?.volume
  }

  func isMuted(_ id: InstanceID) -> Bool {
    streams.contains { $0.instance == id && $0.isMuted }
  }

  var commands: [RemoteCommand] {
    effects.compactMap {
      if case .remote(.command(_, _, let command)) = $0 { command } else { nil }
    }
  }
}

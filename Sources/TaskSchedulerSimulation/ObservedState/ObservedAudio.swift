import TaskSchedulerCore

/// The audio of one instance, as its user's session agent reports it. Instants are in nanoseconds.
struct ObservedAudio {
  var streams: [AudioStream] = []
  /// The end of the current `AudioGraceTime`; nil at all other times.
  var graceDue: UInt64?
  /// The streams that the daemon has muted.
  var muted: Set<AudioStreamID> = []
  /// The instant until which the suspension waits for the mute; nil if it does not wait.
  var muteDue: UInt64?
  /// The streams that the agent measures.
  var measured: Set<AudioStreamID> = []
  /// The instant since which all measured streams are silent.
  var silentSince: UInt64?
  /// Whether the silence has lasted for `AudioSilenceTime`.
  var isSilent = false
  /// Whether the user is shown that the instance records.
  var isNoticed = false
  /// The session that the application has set; nil if it has set none.
  var declared: AudioSession?
  /// The active audio session.
  var session: ObservedAudioSession?
  var volumes = ObservedVolumes()
  /// The interruption by a phone call or another application.
  var interruption: ObservedInterruption?
  /// The interrupter that the last record names; nil if the record names none.
  var recordedInterrupter: AudioInterrupter?
  /// Whether the application has a phone call.
  var isInCall = false

  var audible: [AudioStream] {
    streams.filter { $0.direction == .playback && $0.isRunning && !$0.isMuted }
  }
  var isRecording: Bool { streams.contains { $0.direction == .recording && $0.isRunning } }
  /// Whether a stream plays, even if it is muted.
  var isPlaying: Bool { streams.contains { $0.direction == .playback && $0.isRunning } }
  /// Whether the instance records or is audible.
  var isSounding: Bool { isRecording || !audible.isEmpty }
  /// Whether the instance records, or has audible streams and has not been silent for
  /// `AudioSilenceTime`.
  var isInUse: Bool { isRecording || !audible.isEmpty && !isSilent }

  func silenceDue(_ limits: Limits) -> UInt64? { silentSince.map { $0 + limits.audioSilenceTime } }
}

/// What the checkers know about the session agents that report audio.
struct ObservedAudioSessions {
  /// The agents that report audio, by user. For a lost agent, the value is the instant of its loss;
  /// for an attached agent, the value is nil.
  var agents: [UserID: UInt64?] = [:]
  /// The users whose audio server itself lowers, mutes or pauses streams by their roles.
  var managingRoles: Set<UserID> = []
  /// The streams that belong to no running instance and whose volumes the daemon is restoring.
  var returning: [AudioStreamID: (user: UserID, volume: LoweredVolume)] = [:]
  /// The streams that the daemon is unmuting.
  var unmuting: [AudioStreamID: UserID] = [:]
  /// The number of the last order to each agent to confirm all earlier orders.
  var confirmsLast: [UserID: UInt64] = [:]
  /// For each user, the playback streams of the last report that run, or have run before.
  var known: [UserID: Set<AudioStreamID>] = [:]
  /// For each stream that exists but has not run yet, the daemon's changes that the server
  /// remembered when it created the stream.
  var unstarted: [UserID: [AudioStreamID: ObservedMemory]] = [:]
  /// For each stream that was ever reported, the number of the entry in which the server remembers
  /// the stream's mute and volume.
  var memories: [AudioStreamID: UInt32] = [:]
  /// The daemon's changes to ended streams that the server still remembers, by the number of the
  /// server's entry.
  var remembered: [UserID: [UInt32: ObservedMemory]] = [:]

  // MARK: The current event
  /// The streams that the current event requires the daemon to unmute.
  var mustUnmute: [AudioStreamID] = []
  /// The streams whose volume the current event requires the daemon to restore.
  var mustReturn: Set<AudioStreamID> = []
  /// The users whose interruptions and volumes are determined again at the current event.
  var arbitrated: Set<UserID> = []

  mutating func begin() {
    mustUnmute = []
    mustReturn = []
    arbitrated = []
  }
}

extension ObservedInstance {
  var isEntitledByAudio: Bool {
    mayPlay && (audio.isInUse || audio.graceDue != nil)
  }

  /// Whether the instance is suspended, and its audio does not resume it. Such an instance cannot
  /// begin to play, even if a new agent reports that the instance is audible. Nothing resumes a
  /// suspended instance that the daemon is killing.
  var isAsleep: Bool { state == .suspended && (ending != nil || !isEntitledByAudio) }

  var mayPlay: Bool { plan.modes.contains(.audio) || audio.isInCall }

  func endGraceIfDue(at now: UInt64) {
    if let due = audio.graceDue, due <= now { audio.graceDue = nil }
  }

  func endSilenceIfDue(_ limits: Limits, at now: UInt64) {
    guard let due = audio.silenceDue(limits), due <= now else { return }
    audio.isSilent = true
    audio.graceDue = now + limits.audioGraceTime
  }

  /// The priority that the daemon must have set (contract.md#resource-playing).
  var rightfulPriority: ProcessPriority {
    state == .background && (isEntitledByAudio || isLocating)
      ? .foreground : ProcessPriority(state)
  }
}

extension ObservedState {
  func apply(_ snapshot: AudioSnapshot, of user: UserID) {
    audio.agents[user] = .some(nil)
    if snapshot.managesRoles {
      audio.managingRoles.insert(user)
    } else {
      audio.managingRoles.remove(user)
    }
    var all: [AudioStreamID: AudioStream] = [:]
    for stream in snapshot.streams.sorted(by: { $0.id < $1.id }) where all[stream.id] == nil {
      all[stream.id] = stream
    }
    let held = heldMemories(of: user)
    for (id, stream) in all { audio.memories[id] = stream.memory }
    let isConfirmed = snapshot.confirmed >= audio.confirmsLast[user] ?? 0
    takeUnmuted(all, isConfirmed: isConfirmed, of: user)
    takeReturned(all, isConfirmed: isConfirmed, of: user)
    var again: Set<InstanceID> = []
    for instance in instancesOwned(by: user) {
      let own = all.values.filter { $0.instance == instance.id }.sorted { $0.id < $1.id }
      let wasAudible = !instance.audio.audible.isEmpty
      let interruption = instance.audio.interruption
      let wasPlaying = instance.audio.isPlaying
      take(own, all, isConfirmed: isConfirmed, of: instance)
      let isAsleep = instance.isAsleep
      if interruption != nil, !wasPlaying, instance.audio.isPlaying, !isAsleep {
        again.insert(instance.id)
      }
      if wasAudible == instance.audio.audible.isEmpty {
        players.all[instance.id, default: .init()].audibleAt = now
        players.all[instance.id]?.mustPlay = false
        if !wasAudible, interruption?.isMuted == false, !isAsleep { again.insert(instance.id) }
      }
    }
    restoreNewStreams(all, held, of: user)
    takeCallStreams(of: user)
    arbitrate(user, again: again)
  }

  private func take(
    _ own: [AudioStream], _ all: [AudioStreamID: AudioStream], isConfirmed: Bool,
    of instance: ObservedInstance
  ) {
    let before = instance.audio
    instance.audio.streams = own
    let audible = Set(before.audible.map(\.id))
    if instance.audio.audible.contains(where: { !audible.contains($0.id) }) {
      instance.audio.isSilent = false
    }
    let gone = before.muted.filter { all[$0] == nil }
    instance.audio.muted.subtract(gone)
    for id in gone { remember(ObservedMemory(isMuted: true), of: id, instance.key.owner) }
    takeVolumes(all, isConfirmed: isConfirmed, of: instance)
    if instance.audio.isInUse {
      instance.audio.graceDue = nil
    } else if before.isInUse, instance.state != .suspended, instance.mayPlay {
      instance.audio.graceDue = now + limits.audioGraceTime
    }
  }

  func loseAudio(of user: UserID) {
    guard audio.agents[user] == .some(nil) else { return }
    audio.agents[user] = now
    players.stale.insert(user)
  }

  /// Discards the reports of agents that have been disconnected for `SessionGraceTime`.
  func audioDeadlineReached() {
    for user in audio.agents.keys.sorted() {
      guard let lostAt = audio.agents[user] ?? nil, lostAt + limits.sessionGraceTime <= now
      else { continue }
      audio.agents[user] = nil
      audio.managingRoles.remove(user)
      players.stale.remove(user)
      for instance in live where instance.key.owner == user {
        if players.all[instance.id] != nil { players.leaveBus(instance.id) }
        instance.audio.streams = []
        instance.audio.graceDue = nil
        instance.audio.measured = []
        instance.audio.isSilent = false
      }
      for instance in live where instance.key.owner == user { instance.audio.session = nil }
      takeCallStreams(of: user)
      arbitrate(user)
    }
  }

  func audioRecovered() {
    players.stale.formUnion(audio.agents.keys)
    for (user, lostAt) in audio.agents where lostAt != nil { audio.agents[user] = now }
    for instance in live where instance.audio.session?.endsAt != nil {
      instance.audio.session?.endsAt = now + limits.audioGraceTime
    }
  }

  func apply(_ effect: AudioEffect) {
    switch effect {
    case .mute(let user, let ids):
      for instance in live where instance.key.owner == user {
        let own = instance.audio.audible.map(\.id).filter { ids.contains($0) }
        // The order may include a stream that was never audible: the server remembered the daemon's
        // mute, so the stream began muted.
        instance.audio.muted.formUnion(instance.audio.streams.map(\.id).filter { ids.contains($0) })
        for stream in instance.audio.streams where ids.contains(stream.id) {
          if audio.unmuting.removeValue(forKey: stream.id) != nil {
            instance.audio.muted.insert(stream.id)
          }
        }
        if !own.isEmpty, instance.state == .background, !instance.isStopping,
          instance.audio.interruption?.isMuted != true
        {
          instance.audio.muteDue = instance.audio.muteDue ?? now + limits.audioMuteTime
        }
      }
    case .unmute(let user, let ids):
      for id in ids { audio.unmuting[id] = user }
      for instance in live where !instance.audio.muted.isDisjoint(with: ids) {
        instance.audio.muted.subtract(ids)
        instance.audio.muteDue = nil
      }
    case .setVolume(let user, let changes): for change in changes { note(change, of: user) }
    case .measure(let user, let ids):
      for instance in live where instance.key.owner == user {
        instance.audio.measured.formUnion(
          instance.audio.streams.map(\.id).filter { ids.contains($0) })
      }
    case .stopMeasuring(_, let ids):
      for instance in live { instance.audio.measured.subtract(ids) }
    case .confirm(let user, let number): audio.confirmsLast[user] = number
    case .showRecording(let notice): self[notice.instance]?.audio.isNoticed = true
    case .hideRecording(let id, _): self[id]?.audio.isNoticed = false
    }
  }

  /// Determines since when the instances are silent.
  func noteSilence() {
    for instance in live {
      let audio = instance.audio
      let isSilent =
        !audio.measured.isEmpty
        && audio.measured.allSatisfy { id in
          audio.streams.contains { $0.id == id && $0.isSilent }
        }
      instance.audio.silentSince = isSilent ? audio.silentSince ?? now : nil
    }
  }
}

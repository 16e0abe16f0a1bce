import TaskSchedulerCore

/// The audio of one instance, as its user's session agent reports it. Instants are in nanoseconds.
struct ObservedAudio {
  var streams: [AudioStream] = []
  /// The end of `AudioGraceTime`; nil while a stream is in use, and after that time.
  var graceDue: UInt64?
  /// The streams that the daemon has muted.
  var muted: Set<AudioStreamID> = []
  /// The instant at which the suspension no longer waits for the mute; nil if it does not wait.
  var muteDue: UInt64?
  /// The streams that the agent measures.
  var measured: Set<AudioStreamID> = []
  /// The instant since which all measured streams are silent.
  var silentSince: UInt64?
  /// Whether the silence has lasted for `AudioSilenceTime`.
  var isSilent = false
  /// Whether the user is shown that the instance records.
  var isNoticed = false
  /// The interruption by a phone call.
  var interruption: ObservedInterruption?
  /// Whether the application has a phone call.
  var isInCall = false

  var audible: [AudioStream] {
    streams.filter { $0.direction == .playback && $0.isRunning && !$0.isMuted }
  }
  var isRecording: Bool { streams.contains { $0.direction == .recording && $0.isRunning } }
  var isInUse: Bool { isRecording || !audible.isEmpty && !isSilent }

  func silenceDue(_ limits: Limits) -> UInt64? { silentSince.map { $0 + limits.audioSilenceTime } }
}

/// What the checkers know about the session agents that report audio.
struct ObservedAudioSessions {
  /// The agents that report audio, by user. For a lost agent, the value is the instant of its loss;
  /// for an attached agent, the value is nil.
  var agents: [UserID: UInt64?] = [:]
  /// The applications whose next stream the daemon must unmute.
  var restoresNext: Set<ApplicationKey> = []
  /// The streams that the current event requires the daemon to unmute.
  var mustUnmute: [AudioStreamID] = []
}

extension ObservedInstance {
  var isEntitledByAudio: Bool {
    mayPlay && (audio.isInUse || audio.graceDue != nil)
  }

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
    state == .background && isEntitledByAudio ? .foreground : ProcessPriority(state)
  }
}

extension ObservedState {
  func apply(_ snapshot: AudioSnapshot, of user: UserID) {
    audio.agents[user] = .some(nil)
    var all: [AudioStreamID: AudioStream] = [:]
    for stream in snapshot.streams.sorted(by: { $0.id < $1.id }) where all[stream.id] == nil {
      all[stream.id] = stream
    }
    var begun: Set<InstanceID> = []
    for instance in live where instance.key.owner == user {
      let own = all.values.filter { $0.instance == instance.id }.sorted { $0.id < $1.id }
      let wasAudible = !instance.audio.audible.isEmpty
      take(own, all, of: instance)
      if wasAudible == instance.audio.audible.isEmpty {
        players.all[instance.id, default: .init()].audibleAt = now
        players.all[instance.id]?.mustPlay = false
        if !wasAudible { begun.insert(instance.id) }
      }
    }
    interruptAudio(of: user, begun: begun)
  }

  private func take(
    _ own: [AudioStream], _ all: [AudioStreamID: AudioStream], of instance: ObservedInstance
  ) {
    let before = instance.audio
    instance.audio.streams = own
    let audible = Set(before.audible.map(\.id))
    if instance.audio.audible.contains(where: { !audible.contains($0.id) }) {
      instance.audio.isSilent = false
    }
    let gone = before.muted.filter { all[$0] == nil }
    instance.audio.muted.subtract(gone)
    if !gone.isEmpty { audio.restoresNext.insert(instance.key) }
    let known = Set(before.streams.map(\.id))
    let fresh = own.filter { $0.direction == .playback && !known.contains($0.id) }
    if !fresh.isEmpty, audio.restoresNext.remove(instance.key) != nil, instance.ending == nil,
      let first = fresh.first, first.isMuted
    {
      audio.mustUnmute.append(first.id)
    }
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

  /// Discards the reports of agents that were lost `SessionGraceTime` ago.
  func audioDeadlineReached() {
    for (user, lostAt) in audio.agents {
      guard let lostAt, lostAt + limits.sessionGraceTime <= now else { continue }
      audio.agents[user] = nil
      players.stale.remove(user)
      for instance in live where instance.key.owner == user {
        if players.all[instance.id] != nil { players.leaveBus(instance.id) }
        instance.audio.streams = []
        instance.audio.graceDue = nil
        instance.audio.measured = []
        instance.audio.isSilent = false
      }
    }
  }

  func audioRecovered() {
    players.stale.formUnion(audio.agents.keys)
    for (user, lostAt) in audio.agents where lostAt != nil { audio.agents[user] = now }
  }

  func apply(_ effect: AudioEffect) {
    switch effect {
    case .mute(let user, let ids):
      for instance in live where instance.key.owner == user {
        let own = instance.audio.audible.map(\.id).filter { ids.contains($0) }
        instance.audio.muted.formUnion(own)
        if !own.isEmpty, instance.state == .background, !instance.isStopping,
          instance.audio.interruption?.isMuted != true
        {
          instance.audio.muteDue = instance.audio.muteDue ?? now + limits.audioMuteTime
        }
      }
    case .unmute(_, let ids):
      for instance in live where !instance.audio.muted.isDisjoint(with: ids) {
        instance.audio.muted.subtract(ids)
        instance.audio.muteDue = nil
      }
    case .measure(let user, let ids):
      for instance in live where instance.key.owner == user {
        instance.audio.measured.formUnion(
          instance.audio.streams.map(\.id).filter { ids.contains($0) })
      }
    case .stopMeasuring(_, let ids):
      for instance in live { instance.audio.measured.subtract(ids) }
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

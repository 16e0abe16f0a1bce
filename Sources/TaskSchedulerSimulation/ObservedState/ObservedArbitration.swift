import TaskSchedulerCore

/// The active audio session of an instance. Instants are in nanoseconds.
struct ObservedAudioSession {
  /// The effect of a session on the audio of other applications.
  enum Rank { case mixing, ducking, exclusive }

  var begunAt: UInt64
  /// The end of `AudioGraceTime`; nil while the instance plays, records or is interrupted.
  var endsAt: UInt64?
  var rank: Rank
  /// Whether the instance has had a phone call during the session. If so, the session does not
  /// interrupt or lower the audio of other applications, and they do not interrupt or lower its
  /// audio.
  var hadCall = false

  var isExclusive: Bool { rank == .exclusive && !hadCall }
  var isDucking: Bool { rank == .ducking && !hadCall }
}

extension ObservedAudio {
  /// The rank of the session that the application has set, or that follows from its running
  /// streams (contract.md#audio-session).
  fileprivate var rank: ObservedAudioSession.Rank {
    if let declared { return Self.rank(of: declared) }
    let roles = streams.filter { $0.direction == .playback && $0.isRunning }.map(\.role)
    if roles.isEmpty, isRecording { return .mixing }
    var rank = ObservedAudioSession.Rank.mixing
    for role in roles {
      switch role {
      case .event: break
      case .notification, .accessibility: rank = .ducking
      case .other, .phone: return .exclusive
      }
    }
    return rank
  }

  private static func rank(of session: AudioSession) -> ObservedAudioSession.Rank {
    if session.ducksOthers { return .ducking }
    if session.mixesWithOthers { return .mixing }
    switch session.category {
    case .ambient: return .mixing
    case .soloAmbient, .playback, .record, .playAndRecord: return .exclusive
    }
  }
}

// The interruptions and the lowered volumes of applications (contract.md#audio-takeover,
// contract.md#audio-duck). Calls, active sessions and audible streams determine them.
extension ObservedState {
  /// Returns the running instances of a user, ordered by their ids.
  func instancesOwned(by user: UserID) -> [ObservedInstance] {
    live.filter { $0.key.owner == user }.sorted { $0.id < $1.id }
  }

  func setAudioSession(_ id: InstanceID, _ session: AudioSession) {
    guard !isRefused, let instance = self[id] else { return }
    instance.audio.declared = session
    let rank = instance.audio.rank
    instance.audio.session?.rank = rank
    arbitrate(instance.key.owner)
  }

  /// Ends the sessions whose `AudioGraceTime` has passed, when a deadline is reached.
  func audioSessionsDue() {
    guard live.contains(where: { $0.audio.session?.endsAt.map { $0 <= now } ?? false })
    else { return }
    for user in Set(live.map(\.key.owner)).sorted() { arbitrate(user) }
  }

  /// Begins and ends the interruptions of a user's audio.
  ///
  /// - Parameter again: The interrupted instances that have begun to play again with the current
  ///   event.
  func arbitrate(_ user: UserID, again: Set<InstanceID> = []) {
    audio.arbitrated.insert(user)
    let own = instancesOwned(by: user)
    for instance in own { updateSession(of: instance, isAgain: again.contains(instance.id)) }
    endReplacedSessions(own)
    let isCalled = isCalled(user)
    for instance in own {
      let cause = wantedCause(of: instance, own, isCalled: isCalled)
      guard let current = instance.audio.interruption?.cause else {
        if let cause, canBeInterrupted(instance) { beginInterruption(of: instance, by: cause) }
        continue
      }
      guard let cause else {
        endInterruption(of: instance)
        continue
      }
      if cause == .application, current == .phoneCall {
        continueInterruption(of: instance)
      } else if cause == .phoneCall, let key = instance.audio.interruption?.interrupter,
        let other = byKey[key], calls.hasCall(other.id)
      {
        instance.audio.interruption?.cause = .phoneCall
        instance.audio.interruption?.interrupter = nil
      } else if again.contains(instance.id) {
        instance.audio.interruption?.isMuted = true
      }
    }
    for instance in own where !mustBeLow(instance) { instance.audio.volumes.left = [] }
  }

  private func wantedCause(
    of instance: ObservedInstance, _ own: [ObservedInstance], isCalled: Bool
  ) -> ObservedInterruption.Cause? {
    if instance.audio.isInCall { return nil }
    if isCalled { return .phoneCall }
    guard !audio.managingRoles.contains(instance.key.owner), let session = instance.audio.session,
      session.isExclusive
    else { return nil }
    let isReplaced = own.contains { other in
      other.audio.session.map { $0.isExclusive && $0.begunAt > session.begunAt } ?? false
    }
    return isReplaced ? .application : nil
  }

  /// Begins the session of an instance that plays or records. Ends the session of an instance that
  /// has neither played nor recorded for `AudioGraceTime`.
  private func updateSession(of instance: ObservedInstance, isAgain: Bool) {
    let audio = instance.audio
    // The instance plays again although another application interrupted it. The daemon assumes that
    // the user has started it. The new session of the instance then interrupts the other
    // application.
    let isTakeover = isAgain && audio.interruption?.cause == .application
    if audio.isSounding && !instance.isAsleep || isTakeover {
      let previous = isTakeover ? nil : audio.session
      instance.audio.session = ObservedAudioSession(
        begunAt: previous?.begunAt ?? now, endsAt: nil, rank: audio.rank,
        hadCall: audio.isInCall || previous?.hadCall ?? false)
    } else if audio.session != nil {
      let end =
        audio.interruption == nil ? audio.session?.endsAt ?? now + limits.audioGraceTime : nil
      instance.audio.session?.endsAt = end
      if let end, end <= now { instance.audio.session = nil }
    }
  }

  /// Ends each exclusive session that is in its `AudioGraceTime`, if a newer exclusive session has
  /// begun.
  private func endReplacedSessions(_ own: [ObservedInstance]) {
    let newest = own.compactMap(\.audio.session).filter(\.isExclusive).map(\.begunAt).max() ?? 0
    for instance in own {
      guard let session = instance.audio.session, session.isExclusive, session.endsAt != nil,
        session.begunAt < newest
      else { continue }
      instance.audio.session = nil
    }
  }

  // MARK: Ducking

  /// Returns whether the audible streams of an instance must have a lower volume.
  func mustBeLow(_ instance: ObservedInstance) -> Bool {
    let user = instance.key.owner
    let session = instance.audio.session
    let isExempt = session.map { $0.isDucking || $0.hadCall } ?? instance.audio.isInCall
    if isExempt || instance.audio.audible.isEmpty || audio.managingRoles.contains(user) {
      return false
    }
    return live.contains { other in
      other !== instance && other.key.owner == user && other.audio.session?.isDucking ?? false
        && !other.audio.audible.isEmpty && other.audio.interruption == nil
    }
  }
}

import TaskSchedulerCore

/// Checks that audio entitles an application to run for exactly as long as the contract says
/// (contract.md#audio-entitles).
struct AudioEntitlementChecker: Checker {
  static let name = "audio"
  /// The longest delay of a timer, in nanoseconds.
  let slack: UInt64

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    guard case .record(let record) = effect,
      case .transition(.suspended, _, .audio) = record.change,
      let instance = observed.byKey[record.application]
    else { return }
    try require(
      instance.isEntitledByAudio,
      "\(instance.name) is resumed because of its audio, which does not entitle it to run")
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    for instance in observed.live where instance.ending == nil {
      try require(
        instance.state != .suspended || !instance.isEntitledByAudio,
        "\(instance.name) is entitled to run by its audio, but is suspended")
      try checkMeasured(instance)
      try checkNotice(instance, observed)
      guard instance.state == .background, !instance.isTraced, instance.askedAt == nil
      else { continue }
      let dues = [instance.audio.graceDue, instance.audio.silenceDue(observed.limits)]
      guard let due = dues.compactMap({ $0 }).min() else { continue }
      try require(
        max(due, observed.floor) + slack >= observed.now,
        "\(instance.name) is entitled to run by its audio for longer than AudioGraceTime or "
          + "AudioSilenceTime")
    }
    for (_, lostAt) in observed.audio.agents {
      guard let lostAt else { continue }
      let due = max(lostAt + observed.limits.sessionGraceTime, observed.floor)
      try require(
        due + slack >= observed.now,
        "the audio reports of a lost agent are valid for too long")
    }
  }
}

extension AudioEntitlementChecker {
  /// Checks that the agent shows the user which applications record in the background
  /// (contract.md#audio-recording-notice).
  private func checkNotice(
    _ instance: ObservedInstance, _ observed: ObservedState
  ) throws(Finding) {
    let records =
      observed.policy.audioRecordingNotice && instance.state == .background
      && instance.audio.isRecording
    try require(
      records || !instance.audio.isNoticed,
      "the user is shown that \(instance.name) records in the background, but it does not record")
    try require(
      instance.audio.isNoticed || !records || !instance.isEntitledByAudio,
      "\(instance.name) records in the background, but the user is not shown this")
  }

  /// Checks that the agent measures the streams of an instance exactly while only its audible
  /// streams entitle the instance to run (contract.md#audio-silence).
  private func checkMeasured(_ instance: ObservedInstance) throws(Finding) {
    let audio = instance.audio
    let isOnlyAudible =
      instance.state == .background && instance.plan.modes.contains(.audio) && !audio.isRecording
      && !audio.isSilent
    try require(
      audio.measured.isEmpty || isOnlyAudible,
      "the streams of \(instance.name) are measured without need")
    guard isOnlyAudible, instance.outstanding.isEmpty, instance.eventDues.isEmpty,
      instance.launchDue == nil, !instance.isLocating, instance.tasks.isEmpty
    else { return }
    try require(
      audio.measured == Set(audio.audible.map(\.id)),
      "\(instance.name) is entitled to run only by its audio, but its streams are not measured")
  }
}

/// Checks that the daemon mutes the audio of suspended applications, and that it ends each mute
/// (contract.md#audio-mute).
///
/// The daemon also mutes interrupted applications (contract.md#call-muted), but no others.
struct MuteChecker: Checker {
  static let name = "mutes"

  private var unmuted: Set<AudioStreamID> = []
  /// The users whose agents have received orders, but not the number that follows them.
  private var unconfirmed: Set<UserID> = []
  /// The instances whose audio had to be muted at the end of the previous event.
  private var mutedBefore: Set<InstanceID> = []

  mutating func before(_ event: Event, _ observed: ObservedState) throws(Finding) {
    unmuted = []
    unconfirmed = []
  }

  mutating func see(_ effect: Effect, _ observed: ObservedState) throws(Finding) {
    switch effect {
    case .suspend(let id): if let instance = observed[id] { try checkSuspend(instance, observed) }
    case .audio(.mute(let user, let ids)):
      unconfirmed.insert(user)
      try checkMute(ids, of: user, observed)
    case .audio(.unmute(let user, let ids)):
      unconfirmed.insert(user)
      unmuted.formUnion(ids)
    case .audio(.setVolume(let user, _)): unconfirmed.insert(user)
    case .audio(.confirm(let user, _)): unconfirmed.remove(user)
    case .audio(.measure), .audio(.stopMeasuring), .audio(.showRecording), .audio(.hideRecording):
      break
    case .reply, .deliver, .expire, .notify, .socket, .notification, .memory, .spawn, .manage,
      .resume, .terminate, .kill, .release, .checkTracer, .record, .resources, .dropPicture,
      .remote, .location:
      break
    }
  }

  private func checkSuspend(
    _ instance: ObservedInstance, _ observed: ObservedState
  ) throws(Finding) {
    if case .scheduler(.recovered) = observed.event { return }
    let audible = instance.audio.audible
    if audible.isEmpty { return }
    try require(
      audible.allSatisfy { instance.audio.muted.contains($0.id) },
      "\(instance.name) is stopped while it is audible, but its audio is not muted")
    try require(
      instance.audio.muteDue.map { $0 <= observed.now } ?? false,
      "\(instance.name) is stopped before its audio is muted")
  }

  private func checkMute(
    _ ids: [AudioStreamID], of user: UserID, _ observed: ObservedState
  ) throws(Finding) {
    for instance in observed.live where instance.key.owner == user {
      guard instance.audio.streams.contains(where: { ids.contains($0.id) }) else { continue }
      try require(
        instance.ending != nil || instance.state == .suspended
          || !instance.state.isForeground && !instance.isBusy(at: observed.now)
          || instance.audio.interruption?.isMuted == true || mutedBefore.contains(instance.id),
        "\(instance.name) is muted, but it may run")
    }
  }

  mutating func after(_ observed: ObservedState) throws(Finding) {
    try require(
      unconfirmed.isEmpty, "a session agent is not asked to confirm the orders that it receives")
    for instance in observed.live where !instance.audio.muted.isEmpty {
      try require(
        instance.state == .suspended || instance.isStopping || instance.audio.muteDue != nil
          || instance.audio.interruption?.isMuted == true,
        "\(instance.name) is \(instance.state), but its audio is still muted")
    }
    for id in observed.audio.mustUnmute {
      let isMutedAnyway = observed.live.contains { instance in
        instance.audio.streams.contains { $0.id == id }
          && (instance.state == .suspended || instance.isStopping || instance.audio.muteDue != nil
            || instance.audio.interruption?.isMuted == true)
      }
      try require(
        isMutedAnyway || unmuted.contains(id),
        "stream \(id.index) began muted because of an earlier stream, but is not unmuted")
    }
    mutedBefore = Set(
      observed.live.lazy.filter { instance in
        instance.state == .suspended || instance.isStopping || instance.audio.muteDue != nil
          || instance.audio.interruption?.isMuted == true
      }.map(\.id))
  }
}

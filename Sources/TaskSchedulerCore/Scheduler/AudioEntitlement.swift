// The entitlement to run because of audio (contract §13). An instance with mode audio or with a
// phone call has this entitlement while it is audible or records, and for `AudioGraceTime`
// afterwards.

extension Instance {
  /// Whether the instance may run in the background because of its audio.
  var isEntitledByAudio: Bool {
    guard let audio, mayPlay else { return false }
    return audio.isInUse || audio.graceEnds != nil
  }

  /// Whether audio can entitle the instance to run: the instance has mode audio or a phone call.
  private var mayPlay: Bool {
    backgroundModes.contains(.audio) || audio?.isInCall == true
  }

  /// Resumes the instance if it is suspended and its audio entitles it to run, or suspends it if
  /// nothing entitles it any more.
  mutating func reconsiderAudio(in turn: inout Turn) {
    if state == .suspended, termination == nil, audio?.isInUse == true, isEntitledByAudio {
      leaveSuspended(to: .background(Stint(at: turn.instant)), cause: .audio, in: &turn)
    }
    reconsider(in: &turn)
  }

  /// Starts `AudioGraceTime` if the instance played or recorded before the change, and does neither
  /// now. Cancels it if the instance plays or records now, or if audio cannot entitle the instance
  /// to run.
  func setGrace(
    of next: inout InstanceAudio, before: InstanceAudio, in turn: borrowing Turn
  ) {
    if next.isInUse || !mayPlay { return next.setGrace(until: nil) }
    guard before.isInUse, state != .suspended else { return }
    next.setGrace(until: turn.instant.advanced(by: turn.policy.audioGraceTime))
  }

  /// Entitles an instance in the background to run for `AudioGraceTime`, because it may have begun
  /// to play and the agent has not reported this yet.
  mutating func waitForAudio(in turn: inout Turn) {
    guard state == .background, termination == nil, mayPlay else { return }
    let end = turn.instant.advanced(by: turn.policy.audioGraceTime)
    if !handling.extendUnacknowledged(until: end) {
      handling.begin(callbacks.nextID(), nil, until: end)
    }
  }

  /// Ends the entitlement of an instance whose `AudioGraceTime` has passed.
  mutating func endAudioGraceIfDue(in turn: inout Turn) {
    guard let due = audio?.graceEnds, due <= turn.instant else { return }
    let isSilent = audio?.silence.isLong ?? false
    changeAudio(in: &turn) { $0.audio?.setGrace(until: nil) }
    reasons.entitlementEnded(
      isSilent ? .silence : .audio, at: due.earlier(by: turn.policy.audioGraceTime))
  }

  /// Lets an instance count as playing again after a silence of `AudioSilenceTime`. Call this after
  /// a transition, because the instance may have begun to play.
  mutating func endSilence(in turn: inout Turn) {
    guard audio?.silence.isLong == true else { return }
    changeAudio(in: &turn) { $0.audio?.silence.end() }
  }

  /// Starts `AudioGraceTime` for an instance that has been silent for `AudioSilenceTime`.
  mutating func endSilenceIfDue(in turn: borrowing Turn) {
    guard let due = audio?.silence.due(turn.policy), due <= turn.instant, let before = audio
    else { return }
    audio?.silence.becomeLong()
    guard var next = audio else { return }
    setGrace(of: &next, before: before, in: turn)
    audio = next
  }
}

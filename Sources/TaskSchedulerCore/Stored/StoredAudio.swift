extension AudioSnapshot: StoredByForm {
  package static let form = Form(
    AudioSnapshot.init(_:managesRoles:confirmed:), \.streams, \.managesRoles, \.confirmed)
}

extension AudioStream: StoredByForm {
  package static let form = Form(
    AudioStream.init(_:of:role:volume:isRunning:isMuted:isSilent:memory:), \.id, \.instance, \.role,
    \.volume, \.isRunning, \.isMuted, \.isSilent, \.memory)
}

extension AudioStreamID: StoredByForm {
  package static let form = Form(
    AudioStreamID.init(server:_:index:), \.server, \.direction, \.index)
}

extension AudioStream.Direction: Stored {}

extension AudioRole: Stored {}

extension AudioVolumeChange: StoredByForm {
  package static let form = Form(AudioVolumeChange.init(_:from:to:), \.stream, \.from, \.to)
}

extension AudioDucking: StoredByForm {
  static let form = Form(
    AudioDucking.init(lowered:raising:left:), \.lowered, \.raising, \.left)
}

extension AudioSession: StoredByForm {
  package static let form = Form(
    AudioSession.init(_:mixesWithOthers:ducksOthers:), \.category, \.mixesWithOthers,
    \.ducksOthers)
}

extension AudioCategory: Stored {}

extension AudioRank: Stored {}

extension ActiveAudioSession: StoredByForm {
  static let form = Form(
    ActiveAudioSession.init(begunAt:endsAt:rank:isOfCall:), \.begunAt, \.endsAt, \.rank,
    \.isOfCall)
}

extension ReturnedVolume: StoredByForm {
  static let form = Form(ReturnedVolume.init(memory:change:), \.memory, \.change)
}

extension RememberedAudio: StoredByForm {
  static let form = Form(RememberedAudio.init(isMuted:volume:), \.isMuted, \.volume)
}

extension InstanceAudio: StoredByForm {
  static let form = Form(
    InstanceAudio.init(
      streams:graceEnds:muted:restoring:memories:silence:noticedAt:ducking:declared:interrupted:
        isInCall:),
    \.streams, \.graceEnds, \.muted, \.restoring, \.memories, \.silence, \.noticedAt, \.ducking,
    \.declared, \.interrupted, \.isInCall)
}

extension RecordingNotice: StoredByForm {
  package static let form = Form(
    RecordingNotice.init(_:_:since:), \.instance, \.application, \.since)
}

extension AudioSilence: StoredByForm {
  static let form = Form(
    AudioSilence.init(measured:since:isLong:), \.measured, \.since, \.isLong)
}

extension SessionAudio: StoredByForm {
  static let form = Form(
    SessionAudio.init(
      agent:restoring:raising:remembered:known:unstarted:active:managesRoles:players:), \.agent,
    \.restoring, \.raising, \.remembered, \.known, \.unstarted, \.active, \.managesRoles,
    \.players)
}

extension AudioEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("mute", Self.mute), Case("unmute", Self.unmute), Case("measure", Self.measure),
    Case("stopMeasuring", Self.stopMeasuring), Case("showRecording", Self.showRecording),
    Case("hideRecording", Self.hideRecording), Case("setVolume", Self.setVolume),
    Case("confirm", Self.confirm),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .mute(let a, let b): writer.write(case: 0, a, b)
    case .unmute(let a, let b): writer.write(case: 1, a, b)
    case .measure(let a, let b): writer.write(case: 2, a, b)
    case .stopMeasuring(let a, let b): writer.write(case: 3, a, b)
    case .showRecording(let a): writer.write(case: 4, a)
    case .hideRecording(let a, let b): writer.write(case: 5, a, b)
    case .setVolume(let a, let b): writer.write(case: 6, a, b)
    case .confirm(let a, let b): writer.write(case: 7, a, b)
    }
  }
}

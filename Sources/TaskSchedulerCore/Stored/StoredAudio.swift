extension AudioSnapshot: StoredByForm {
  package static let form = Form(AudioSnapshot.init(_:), \.streams)
}

extension AudioStream: StoredByForm {
  package static let form = Form(
    AudioStream.init(_:of:_:isRunning:isMuted:isSilent:), \.id, \.instance, \.direction,
    \.isRunning, \.isMuted, \.isSilent)
}

extension AudioStreamID: StoredByForm {
  package static let form = Form(AudioStreamID.init(server:index:), \.server, \.index)
}

extension AudioStream.Direction: Stored {}

extension InstanceAudio: StoredByForm {
  static let form = Form(
    InstanceAudio.init(
      streams:graceEnds:muted:restoring:silence:noticedAt:interrupted:isInCall:), \.streams,
    \.graceEnds, \.muted, \.restoring, \.silence, \.noticedAt, \.interrupted, \.isInCall)
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
    SessionAudio.init(agent:restoring:players:), \.agent, \.restoring, \.players)
}

extension AudioEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("mute", Self.mute), Case("unmute", Self.unmute), Case("measure", Self.measure),
    Case("stopMeasuring", Self.stopMeasuring), Case("showRecording", Self.showRecording),
    Case("hideRecording", Self.hideRecording),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .mute(let a, let b): writer.write(case: 0, a, b)
    case .unmute(let a, let b): writer.write(case: 1, a, b)
    case .measure(let a, let b): writer.write(case: 2, a, b)
    case .stopMeasuring(let a, let b): writer.write(case: 3, a, b)
    case .showRecording(let a): writer.write(case: 4, a)
    case .hideRecording(let a, let b): writer.write(case: 5, a, b)
    }
  }
}

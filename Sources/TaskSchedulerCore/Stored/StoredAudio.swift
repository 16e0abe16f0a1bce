extension AudioSnapshot: StoredByForm {
  package static let form = Form(AudioSnapshot.init(_:), \.streams)
}

extension AudioStream: StoredByForm {
  package static let form = Form(
    AudioStream.init(_:of:_:isRunning:isMuted:), \.id, \.instance, \.direction, \.isRunning,
    \.isMuted)
}

extension AudioStreamID: StoredByForm {
  package static let form = Form(AudioStreamID.init(server:index:), \.server, \.index)
}

extension AudioStream.Direction: Stored {}

extension InstanceAudio: StoredByForm {
  static let form = Form(
    InstanceAudio.init(streams:graceEnds:muted:restoring:), \.streams, \.graceEnds, \.muted,
    \.restoring)
}

extension SessionAudio: StoredByForm {
  static let form = Form(SessionAudio.init(agent:restoring:), \.agent, \.restoring)
}

extension AudioEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("mute", Self.mute), Case("unmute", Self.unmute),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .mute(let a, let b): writer.write(case: 0, a, b)
    case .unmute(let a, let b): writer.write(case: 1, a, b)
    }
  }
}

extension SessionEvent: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("agentAttached", Self.agentAttached), Case("windows", Self.windows),
    Case("agentLost", Self.agentLost), Case("locked", Self.locked(_:byRequest:)),
    Case("unlocked", Self.unlocked), Case("audio", Self.audio),
    Case("audioLost", Self.audioLost), Case("recordingChosen", Self.recordingChosen),
    Case("players", Self.players), Case("playerCalled", Self.playerCalled),
    Case("remoteCommand", Self.remoteCommand), Case("modemCalls", Self.modemCalls),
    Case("incomingCall", Self.incomingCall), Case("callAnswered", Self.callAnswered),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .agentAttached(let a): writer.write(case: 0, a)
    case .windows(let a, let b): writer.write(case: 1, a, b)
    case .agentLost(let a): writer.write(case: 2, a)
    case .locked(let a, let b): writer.write(case: 3, a, b)
    case .unlocked(let a): writer.write(case: 4, a)
    case .audio(let a, let b): writer.write(case: 5, a, b)
    case .audioLost(let a): writer.write(case: 6, a)
    case .recordingChosen(let a): writer.write(case: 7, a)
    case .players(let a, let b): writer.write(case: 8, a, b)
    case .playerCalled(let a, let b, let c): writer.write(case: 9, a, b, c)
    case .remoteCommand(let a, let b): writer.write(case: 10, a, b)
    case .modemCalls(let a): writer.write(case: 11, a)
    case .incomingCall(let a): writer.write(case: 12, a)
    case .callAnswered(let a): writer.write(case: 13, a)
    }
  }
}

extension WindowSnapshot: StoredByForm {
  package static let form = Form(WindowSnapshot.init(_:hasFocus:), \.windows, \.hasFocus)
}

extension WindowReport: StoredByForm {
  package static let form = Form(WindowReport.init(_:_:), \.instance, \.visibility)
}

extension ReportedWindow: StoredByForm {
  static let form = Form(
    ReportedWindow.init(visibility:since:unfocusedSince:hiddenSince:), \.visibility, \.since,
    \.unfocusedSince, \.hiddenSince)
}

extension Sessions: StoredByForm {
  static let form = Form(
    Sessions.init(agents:audio:confirmsLast:locks:), \.agents, \.audio, \.confirmsLast, \.locks)
}

extension SessionAgent: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("attached", Self.attached), Case("lost", Self.lost),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .attached: writer.write(case: 0)
    case .lost(let a): writer.write(case: 1, a)
    }
  }
}

extension SeatLock: StoredByForm {
  static let form = Form(
    SeatLock.init(since:isRequest:interrupted:focused:), \.since, \.isRequest, \.interrupted,
    \.focused)
}

extension WindowVisibility: Stored {}

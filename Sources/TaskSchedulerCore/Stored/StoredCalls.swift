extension ModemCall: StoredByForm {
  package static let form = Form(ModemCall.init(_:isAnswered:), \.id, \.isAnswered)
}

extension Calls: StoredByForm {
  static let form = Form(
    Calls.init(ringing:answered:held:begun:streaming:), \.ringing, \.answered, \.held, \.begun,
    \.streaming)
}

extension Calls.Call: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("modem", Self.modem), Case("application", Self.application),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .modem(let a): writer.write(case: 0, a)
    case .application(let a): writer.write(case: 1, a)
    }
  }
}

extension CallChange: Stored {}

extension AudioInterruption: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("began", Self.began), Case("ended", Self.ended),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .began: writer.write(case: 0)
    case .ended(let a): writer.write(case: 1, a)
    }
  }
}

extension InterruptedAudio: StoredByForm {
  static let form = Form(
    InterruptedAudio.init(by:means:isMuted:), \.by, \.means, \.isMuted)
}

extension AudioInterrupter: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("phoneCall", Self.phoneCall), Case("application", Self.application),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .phoneCall: writer.write(case: 0)
    case .application(let a): writer.write(case: 1, a)
    }
  }
}

extension InterruptedAudio.Means: StoredByCases {
  static let cases: [Case<Self>] = [
    Case("told", Self.told), Case("paused", Self.paused), Case("unnoticed", Self.unnoticed),
  ]

  func write(to writer: inout StoredWriter) {
    switch self {
    case .told(let a): writer.write(case: 0, a)
    case .paused: writer.write(case: 1)
    case .unnoticed: writer.write(case: 2)
    }
  }
}

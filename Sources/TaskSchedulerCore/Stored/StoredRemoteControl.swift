extension RemoteCommand: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("play", Self.play), Case("pause", Self.pause), Case("playPause", Self.playPause),
    Case("next", Self.next), Case("previous", Self.previous), Case("stop", Self.stop),
    Case("seek", Self.seek),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .play: writer.write(case: 0)
    case .pause: writer.write(case: 1)
    case .playPause: writer.write(case: 2)
    case .next: writer.write(case: 3)
    case .previous: writer.write(case: 4)
    case .stop: writer.write(case: 5)
    case .seek(let a): writer.write(case: 6, a)
    }
  }
}

extension PlayerCall: Stored {}

extension RemotePlayer: StoredByForm {
  package static let form = Form(
    RemotePlayer.init(_:isPlaying:), \.application, \.isPlaying)
}

extension RemoteEffect: StoredByCases {
  package static let cases: [Case<Self>] = [
    Case("command", Self.command), Case("present", Self.present),
  ]

  package func write(to writer: inout StoredWriter) {
    switch self {
    case .command(let a, let b, let c): writer.write(case: 0, a, b, c)
    case .present(let a, let b): writer.write(case: 1, a, b)
    }
  }
}

extension Players: StoredByForm {
  static let form = Form(Players.init(all:presented:isStale:), \.all, \.presented, \.isStale)
}

extension Players.Player: StoredByForm {
  static let form = Form(
    Players.Player.init(isOnBus:audibleAt:readAt:isReadWaiting:mustPlay:), \.isOnBus,
    \.audibleAt, \.readAt, \.isReadWaiting, \.mustPlay)
}

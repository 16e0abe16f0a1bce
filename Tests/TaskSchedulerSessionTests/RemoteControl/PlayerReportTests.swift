import LinuxSystem
import TaskSchedulerWire
import Testing

@testable import TaskSchedulerSession

@Suite("§13: Which report about media players a daemon receives next")
struct PlayerReportTests {
  private var reports = PlayerReports()

  private static func player(_ name: String) -> MediaPlayer {
    MediaPlayer(name: name, process: ProcessIdentity(pid: 1, startTime: 1))
  }

  private static let a = player("a")
  private static let b = player("b")

  /// Returns all reports that wait, without pauses between them.
  private mutating func takeAll() -> [PlayerReports.Report] {
    var taken: [PlayerReports.Report] = []
    while let next = reports.next, let report = reports.take(at: next) {
      taken.append(report)
      reports.acknowledged()
    }
    return taken
  }

  private func call(_ player: String, _ kind: SessionInterface.PlayerCall) -> MediaPlayerCall {
    MediaPlayerCall(player: player, kind: kind)
  }

  @Test("While the report of a call waits, calls of its kind to the same player add no report")
  mutating func coalesced() {
    reports.update([Self.a, Self.b])
    for _ in 0..<10_000 {
      reports.add(call("a", .read))
      reports.add(call("b", .read))
    }
    let taken = takeAll()
    #expect(
      taken == [.players([Self.a, Self.b]), .called(call("a", .read)), .called(call("b", .read))])
  }

  @Test("A command replaces a read of the same player, and comes before the reads of others")
  mutating func command() {
    reports.update([Self.a, Self.b])
    reports.add(call("a", .read))
    reports.add(call("b", .read))
    reports.add(call("b", .command))
    reports.add(call("b", .read))
    let taken = takeAll()
    #expect(taken.dropFirst() == [.called(call("b", .command)), .called(call("a", .read))])
  }

  @Test("10,000 calls in a second become 54 reports")
  mutating func flood() {
    reports.update([Self.a])
    _ = takeAll()
    var count = 0
    for step in 0..<10_000 as Range<UInt64> {
      let now = 10_000_000_000 + step * 100_000
      reports.add(call("a", .command))
      if reports.take(at: now) != nil { count += 1 }
    }
    count += takeAll().count
    #expect(count == 54)
  }

  @Test("Calls to players that are in no report, or have left the bus, are not reported")
  mutating func unknown() {
    reports.add(call("a", .command))
    #expect(reports.next == nil)
    reports.update([Self.a])
    reports.add(call("b", .command))
    reports.add(call("a", .command))
    reports.update([])
    let taken = takeAll()
    #expect(taken == [.players([])])
  }

  @Test("Each command to the player taskschedd is reported, up to the limit")
  mutating func commands() {
    for _ in 0..<100 { reports.add(MediaPlayerCommand(.next)) }
    let taken = takeAll()
    #expect(taken.count == PlayerReports.commandsMax)
    #expect(taken.allSatisfy { $0 == .commanded(MediaPlayerCommand(.next)) })
  }

  @Test("A new attachment receives all players, and the call that was not acknowledged")
  mutating func attached() {
    reports.update([Self.a])
    _ = takeAll()
    reports.add(call("a", .command))
    let report = reports.take(at: reports.next ?? 0)
    #expect(report == .called(call("a", .command)))
    reports.attached()
    let first = takeAll()
    #expect(first == [.players([Self.a]), .called(call("a", .command))])
    reports.attached()
    let second = takeAll()
    #expect(second == [.players([Self.a])])
  }
}

@Suite("§13: The calls to media players")
struct MediaPlayerCallTests {
  @Test(
    "A call that only reads is a read, and every other call is a command",
    arguments: [
      ("org.freedesktop.DBus.Properties", "Get", true),
      ("org.freedesktop.DBus.Properties", "GetAll", true),
      ("org.freedesktop.DBus.Properties", "Set", false),
      ("org.freedesktop.DBus.Introspectable", "Introspect", true),
      ("org.freedesktop.DBus.Peer", "Ping", true),
      ("org.mpris.MediaPlayer2", "Raise", false),
      ("org.mpris.MediaPlayer2.Player", "PlayPause", false),
      ("org.mpris.MediaPlayer2.TrackList", "GetTracksMetadata", false), (nil, "PlayPause", false),
    ] as [(String?, String, Bool)])
  func kind(_ interface: String?, _ member: String, _ isRead: Bool) {
    let kind = MediaPlayerCall.kind(interface: interface, member: member)
    #expect(kind == (isRead ? .read : .command))
  }

  @Test("An order to seek without an offset, or another order with one, is no command")
  func offsets() {
    #expect(MediaPlayerCommand(.init(player: "a", command: .seek)) == nil)
    #expect(MediaPlayerCommand(.init(player: "a", command: .play, offsetUSec: 1)) == nil)
    #expect(
      MediaPlayerCommand(.init(player: "a", command: .seek, offsetUSec: -1))
        == MediaPlayerCommand(.seek, offset: -1))
  }
}

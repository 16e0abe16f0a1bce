import TaskSchedulerWire
import Testing

@testable import TaskSchedulerSession

@Suite("§13 The mutes and the lowered volumes of a daemon that does not return")
struct DaemonAudioChangesTests {
  private func order(
    _ streams: [Int], _ isMuted: Bool, server: Int = 1
  ) -> SessionInterface.AudioMute {
    .init(generation: server, streams: streams, muted: isMuted)
  }

  private func change(
    _ stream: Int, from: Int, to: Int, server: Int = 1
  ) -> SessionInterface.AudioVolume {
    .init(generation: server, changes: [.init(stream: stream, from: from, to: to)])
  }

  @Test("The agent ends exactly the mutes that the daemon ordered and has not ended, once")
  func ends() {
    var changes = DaemonAudioChanges()
    changes.take(order([3, 4], true), of: 0)
    changes.take(order([5], true), of: 1)
    changes.take(order([4], false), of: 0)
    #expect(changes.end(of: 0) == .init(mute: order([3], false)))
    #expect(changes.end(of: 0) == .init())
    #expect(changes.end(of: 1) == .init(mute: order([5], false)))
  }

  @Test("The agent gives back exactly the volumes that the daemon lowered and has not raised, once")
  func raises() {
    var changes = DaemonAudioChanges()
    changes.take(change(3, from: 60_000, to: 12_000), of: 0)
    changes.take(change(4, from: 50_000, to: 10_000), of: 0)
    changes.take(change(5, from: 40_000, to: 8000), of: 1)
    changes.take(change(4, from: 10_000, to: 50_000), of: 0)
    #expect(changes.end(of: 0) == .init(volume: change(3, from: 12_000, to: 60_000)))
    #expect(changes.end(of: 0) == .init())
    #expect(changes.end(of: 1) == .init(volume: change(5, from: 8000, to: 40_000)))
  }

  @Test("A volume that the daemon lowered twice is given back as it was at first")
  func loweredTwice() {
    var changes = DaemonAudioChanges()
    changes.take(change(3, from: 60_000, to: 12_000), of: 0)
    changes.take(change(3, from: 12_010, to: 6000), of: 0)
    #expect(changes.end(of: 0) == .init(volume: change(3, from: 6000, to: 60_000)))
  }

  @Test("A volume that the daemon lowered again after the user changed it is given back as changed")
  func loweredAfterChange() {
    var changes = DaemonAudioChanges()
    changes.take(change(3, from: 60_000, to: 12_000), of: 0)
    changes.take(change(3, from: 30_000, to: 6000), of: 0)
    #expect(changes.end(of: 0) == .init(volume: change(3, from: 6000, to: 30_000)))
  }

  @Test("The changes at an audio server that has restarted are forgotten")
  func restarted() {
    var changes = DaemonAudioChanges()
    changes.take(order([3], true, server: 1), of: 0)
    changes.take(change(3, from: 60_000, to: 12_000, server: 1), of: 0)
    changes.take(order([7], true, server: 2), of: 0)
    changes.take(order([7], false, server: 1), of: 0)
    #expect(changes.end(of: 0) == .init(mute: order([7], false, server: 2)))
  }

  @Test("A daemon that has undone all its changes needs no order")
  func none() {
    var changes = DaemonAudioChanges()
    changes.take(order([3], true), of: 0)
    changes.take(change(3, from: 60_000, to: 12_000), of: 0)
    changes.take(order([3], false), of: 0)
    changes.take(change(3, from: 12_000, to: 60_000), of: 0)
    #expect(changes.end(of: 0) == .init())
  }

  @Test("A change of a volume that no server can have is ignored")
  func impossible() {
    var changes = DaemonAudioChanges()
    changes.take(change(-1, from: 60_000, to: 1), of: 0)
    changes.take(change(3, from: Int.max, to: 1), of: 0)
    changes.take(change(3, from: 60_000, to: Int.min), of: 0)
    #expect(changes.end(of: 0) == .init())
  }
}

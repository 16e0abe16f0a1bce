import TaskSchedulerWire
import Testing

@testable import TaskSchedulerSession

@Suite("§13 The mutes of a daemon that does not return")
struct DaemonMutesTests {
  private func order(
    _ streams: [Int], _ isMuted: Bool, server: Int = 1
  ) -> SessionInterface.AudioMute {
    .init(generation: server, streams: streams, muted: isMuted)
  }

  @Test("The agent ends exactly the mutes that the daemon ordered and has not ended, once")
  func ends() {
    var mutes = DaemonMutes()
    mutes.take(order([3, 4], true), of: 0)
    mutes.take(order([5], true), of: 1)
    mutes.take(order([4], false), of: 0)
    #expect(mutes.end(of: 0) == [order([3], false)])
    #expect(mutes.end(of: 0) == [])
    #expect(mutes.end(of: 1) == [order([5], false)])
  }

  @Test("The mutes of an audio server that has restarted are forgotten")
  func restarted() {
    var mutes = DaemonMutes()
    mutes.take(order([3], true, server: 1), of: 0)
    mutes.take(order([7], true, server: 2), of: 0)
    #expect(mutes.end(of: 0) == [order([7], false, server: 2)])
  }

  @Test("A daemon without mutes needs no order")
  func none() {
    var mutes = DaemonMutes()
    mutes.take(order([3], true), of: 0)
    mutes.take(order([3], false), of: 0)
    #expect(mutes.end(of: 0) == [])
  }
}

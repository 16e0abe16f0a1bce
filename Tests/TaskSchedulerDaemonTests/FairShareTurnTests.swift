import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15.6: whoever has used up their share has a turn all the same")
struct FairShareTurnTests {
  /// A connection with one call.
  private final class Caller: TurnTaker {
    var isPutOff = false
    private(set) var isServed = false
    func serve() { isServed = true }
  }

  @Test("when what they had is paid for, though the others never leave the daemon idle")
  func busy() throws {
    let loop = try EventLoop()
    let share = try FairShare(loop: loop)
    share.userCount = 2
    // There is always something to read from somebody.
    let (reading, writing) = try UnixSocket.pair().ends()
    let others = FileDescriptor(taking: reading)
    let far = FileDescriptor(taking: writing)
    #expect(write(far.rawValue, "x", 1) == 1)
    var turns = 0
    let source = try loop.watch(others.rawValue, for: .input) { _ in turns += 1 }
    defer { withExtendedLifetime(source) {} }
    let caller = Caller()
    share.spend(UInt64(TimeCredit.burst) + 1_000_000, by: 0)
    #expect(!share.admits(caller, of: 0))
    let end = ContinuousClock.now + deadline
    while !caller.isServed, ContinuousClock.now < end { try loop.turn(within: .zero) }
    #expect(caller.isServed)
    #expect(turns > 0)
  }
}

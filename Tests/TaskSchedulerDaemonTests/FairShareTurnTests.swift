import EventLoop
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15: A user without credit still has a turn")
struct FairShareTurnTests {
  /// A connection with one call.
  private final class Caller: WorkSource {
    var isDeferred = false
    private(set) var isServed = false
    func serve() { isServed = true }
  }

  @Test("A user gets a turn when the deficit is repaid, even if other users keep the daemon busy")
  func busy() throws {
    let loop = try EventLoop()
    let share = try FairShare(loop: loop)
    share.userCount = 2
    // Simulates the work of other users: the descriptor is always readable.
    let (reading, writing) = try UnixSocket.pair().ends()
    let others = FileDescriptor(taking: reading)
    let far = FileDescriptor(taking: writing)
    #expect(write(far.rawValue, "x", 1) == 1)
    var turns = 0
    let source = try loop.watch(others.rawValue, for: .input) { _ in turns += 1 }
    defer { withExtendedLifetime(source) {} }
    let caller = Caller()
    // On a busy machine, the deficit may be repaid before `admits` checks it. The test then spends
    // again.
    repeat {
      share.spend(UInt64(TimeCredit.burst) + 1_000_000, by: .user(0))
    } while share.admits(caller, of: .user(0))
    let end = ContinuousClock.now + deadline
    while !caller.isServed, ContinuousClock.now < end { try loop.turn(within: .zero) }
    #expect(caller.isServed)
    #expect(turns > 0)
  }

  @Test("A new connection does not wait for the calls of a user's thousand connections")
  func newcomers() throws {
    let loop = try EventLoop()
    let share = try FairShare(loop: loop)
    share.userCount = 2
    let callers = (0..<1000).map { _ in Caller() }
    share.spend(UInt64(TimeCredit.burst) + 1_000_000_000, by: .user(0))
    for caller in callers { #expect(!share.admits(caller, of: .user(0))) }
    let listener = Caller()
    #expect(share.admits(listener, of: .newcomers), "new connections have a separate share")
    share.spend(UInt64(TimeCredit.burst) + 1_000_000_000, by: .newcomers)
    #expect(!share.admits(listener, of: .newcomers), "the share of new connections is used up")
    let end = ContinuousClock.now + deadline
    while !listener.isServed, ContinuousClock.now < end { try loop.turn(within: deadline) }
    let servedBefore = callers.count { $0.isServed }
    #expect(servedBefore <= 2, "callers served before the listener")
  }

  @Test("Many new connections of the only user do not delay that user's calls")
  func storm() throws {
    let share = try FairShare(loop: EventLoop())
    share.userCount = 1
    share.spend(UInt64(TimeCredit.burst) + 1_000_000_000, by: .newcomers)
    #expect(!share.admits(Caller(), of: .newcomers))
    share.spend(UInt64(TimeCredit.burst) + 1_000_000_000, by: .user(0))
    #expect(share.admits(Caller(), of: .user(0)))
  }
}

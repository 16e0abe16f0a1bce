import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests with a real timer. The kernel's report that the clock was set (ECANCELED) is simulated,
/// because a test must not set the machine's clock.
@Suite("A change of the clock")
struct ClockProviderTests {
  private final class Clock {
    var offset: Int64 = 1_700_000_000_000_000_000
    var told: [Int64] = []
  }

  private func provider(_ clock: Clock) throws -> ClockProvider {
    let provider = ClockProvider(
      loop: try EventLoop(), readOffset: { clock.offset }, changed: { clock.told.append($0) })
    try provider.start()
    return provider
  }

  #if DEBUG
    /// Simulates the kernel's report that the clock was set.
    private func tell(_ provider: ClockProvider) {
      let wasSet: @Sendable (String) -> Int32? = { $0 == "read timerfd" ? ECANCELED : nil }
      SyscallFaults.$errnoFor.withValue(wasSet) { provider.read() }
    }

    @Test(
      "A clock that is set forward or back is reported with the new offset (simulated ECANCELED)")
    func set() throws {
      let clock = Clock()
      let provider = try provider(clock)
      for step in [3_600_000_000_000, -7_200_000_000_000, 2_000_000] as [Int64] {
        clock.offset += step
        tell(provider)
        #expect(clock.told.last == clock.offset)
      }
      #expect(clock.told.count == 3)
      tell(provider)
      #expect(clock.told.count == 3, "an unchanged offset is not reported again")
    }

    @Test("A wake-up of the machine with the correct clock is not a change (simulated ECANCELED)")
    func wake() throws {
      let clock = Clock()
      let provider = try provider(clock)
      // Two readings of the same offset may differ by these amounts.
      for error in [0, 900, -40_000, 800_000] as [Int64] {
        clock.offset += error
        tell(provider)
        clock.offset -= error
      }
      #expect(clock.told.isEmpty)
    }

    @Test("Many small steps of the clock are reported (simulated ECANCELED)")
    func steps() throws {
      let clock = Clock()
      let provider = try provider(clock)
      for _ in 1...5 {
        clock.offset += 400_000
        tell(provider)
      }
      #expect(clock.told.count == 1)
    }

    @Test("No change of the clock is reported before the kernel reports it")
    func quiet() throws {
      let clock = Clock()
      let provider = try provider(clock)
      clock.offset += 1_000_000_000
      provider.read()
      #expect(clock.told.isEmpty)
    }
  #endif

  @Test("A jump of the maximum offset is reported")
  func extremes() {
    #expect(ClockProvider.isSet(from: .min, to: .max))
    #expect(ClockProvider.isSet(from: .max, to: .min))
    #expect(!ClockProvider.isSet(from: 5, to: 5))
  }
}

import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Nobody may set the clock of a machine for a test: the kernel's word that it was set (ECANCELED)
/// is made up here; the timer that it is read from is real.
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
    /// What happens when the kernel says that the clock was set.
    private func tell(_ provider: ClockProvider) {
      let wasSet: @Sendable (String) -> Int32? = { $0 == "read timerfd" ? ECANCELED : nil }
      SyscallFaults.$errnoFor.withValue(wasSet) { provider.look() }
    }

    @Test("is told with the new offset once it was set, forward or back (made-up ECANCELED)")
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
      #expect(clock.told.count == 3, "it is as it was told last")
    }

    @Test("is none when the machine wakes up with the clock as right as before (made-up ECANCELED)")
    func wake() throws {
      let clock = Clock()
      let provider = try provider(clock)
      // By as much as two readings of the same offset may differ.
      for error in [0, 900, -40_000, 800_000] as [Int64] {
        clock.offset += error
        tell(provider)
        clock.offset -= error
      }
      #expect(clock.told.isEmpty)
    }

    @Test("is told when it was set by many small steps (made-up ECANCELED)")
    func steps() throws {
      let clock = Clock()
      let provider = try provider(clock)
      for _ in 1...5 {
        clock.offset += 400_000
        tell(provider)
      }
      #expect(clock.told.count == 1)
    }

    @Test("is none as long as the kernel has not said so")
    func quiet() throws {
      let clock = Clock()
      let provider = try provider(clock)
      clock.offset += 1_000_000_000
      provider.look()
      #expect(clock.told.isEmpty)
    }
  #endif

  @Test("is told where the offset jumps as far as numbers go")
  func extremes() {
    #expect(ClockProvider.isSet(from: .min, to: .max))
    #expect(ClockProvider.isSet(from: .max, to: .min))
    #expect(!ClockProvider.isSet(from: 5, to: 5))
  }
}

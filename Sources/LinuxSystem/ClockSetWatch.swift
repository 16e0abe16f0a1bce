import CLinux
import Glibc

/// A watch that reports when the wall clock is set (TFD_TIMER_CANCEL_ON_SET of timerfd_create(2)).
public struct ClockSetWatch: ~Copyable, Sendable {
  /// The descriptor, which is readable when the clock was set.
  public let descriptor: FileDescriptor

  /// Starts to watch the clock.
  ///
  /// - Throws: EMFILE, ENFILE, ENOMEM.
  public init() throws(SystemError) {
    descriptor = FileDescriptor(taking: try check("timerfd_create") { clinux_clock_watch() })
  }

  /// Returns whether the kernel reported a change since the last call. The kernel also reports a
  /// change when the machine wakes from sleep, which does not set the clock.
  public borrowing func takeSetting() throws(SystemError) -> Bool {
    let number = descriptor.rawValue
    var expirations: UInt64 = 0
    let result = attempt("read timerfd") {
      Glibc.read(number, &expirations, MemoryLayout<UInt64>.size)
    }
    guard case .failure(let error) = result else { return false }
    switch error.errno {
    case ECANCELED: return true
    case EAGAIN: return false
    default: throw error
    }
  }
}

extension WallClock {
  /// A reading of the wall clock between two readings of CLOCK_BOOTTIME, in nanoseconds.
  public struct Bracket: Hashable, Sendable {
    public var before: UInt64
    public var wall: Int64
    public var after: UInt64

    public init(before: UInt64, wall: Int64, after: UInt64) {
      self.before = before
      self.wall = wall
      self.after = after
    }

    /// The offset of the wall clock from CLOCK_BOOTTIME. The error is at most half of the bracket's
    /// width.
    var offset: Int64 { wall &- Int64(truncatingIfNeeded: before + (after - before) / 2) }
  }

  /// Returns the offset of the wall clock from CLOCK_BOOTTIME in nanoseconds. The sum of an instant
  /// and the offset is the wall time of the instant. Only setting the clock changes the offset:
  /// sleep and the rate adjustments of NTP affect both clocks equally.
  public static func offset() -> Int64 {
    offset(
      of: (0..<5).map { _ in
        let before = BootClock.now()
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        let wall = Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
        return Bracket(before: before, wall: wall, after: BootClock.now())
      })
  }

  /// Returns the offset of the narrowest of several brackets. A wide bracket means that the process
  /// was interrupted between the readings.
  public static func offset(of brackets: [Bracket]) -> Int64 {
    let narrowest = brackets.min { $0.after - $0.before < $1.after - $1.before }
    guard let narrowest else {
      preconditionFailure("at least one reading of the clocks is required")
    }
    return narrowest.offset
  }
}

import CLinux
import Glibc

/// Tells when the wall clock was set (TFD_TIMER_CANCEL_ON_SET of timerfd_create(2)).
public struct ClockSetWatch: ~Copyable, Sendable {
  /// Readable once the clock was set.
  public let descriptor: FileDescriptor

  /// Errors: EMFILE, ENFILE, ENOMEM.
  public init() throws(SystemError) {
    descriptor = FileDescriptor(taking: try check("timerfd_create") { clinux_clock_watch() })
  }

  /// Whether the kernel has told of a setting since the last call. It also does so when the machine
  /// wakes up, whose clock then is as right as before.
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
  /// One look at the wall clock between two at CLOCK_BOOTTIME, all in nanoseconds.
  public struct Bracket: Hashable, Sendable {
    public var before: UInt64
    public var wall: Int64
    public var after: UInt64

    public init(before: UInt64, wall: Int64, after: UInt64) {
      self.before = before
      self.wall = wall
      self.after = after
    }

    /// How far the wall clock is ahead of CLOCK_BOOTTIME, wrong by half of the bracket at most.
    var offset: Int64 { wall &- Int64(truncatingIfNeeded: before + (after - before) / 2) }
  }

  /// Nanoseconds by which the wall clock is ahead of CLOCK_BOOTTIME: what is added to an instant to
  /// know its wall time. Changes only when the clock is set; both go on alike in sleep and where
  /// NTP makes them slower or faster.
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

  /// The offset by the narrowest of some brackets: in the others the process was interrupted.
  public static func offset(of brackets: [Bracket]) -> Int64 {
    let narrowest = brackets.min { $0.after - $0.before < $1.after - $1.before }
    guard let narrowest else { preconditionFailure("an offset is found by looking at the clocks") }
    return narrowest.offset
  }
}

import Glibc

/// CLOCK_BOOTTIME: runs on while the machine sleeps, is never set.
public enum BootClock {
  /// Nanoseconds since boot.
  public static func now() -> UInt64 {
    let time = read(CLOCK_BOOTTIME)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// The same in clock ticks (100 a second), as processes' start times are told.
  public static func ticks() -> UInt64 { now() / 10_000_000 }
}

/// Which run of the machine this is.
public enum BootIdentity {
  /// /proc/sys/kernel/random/boot_id: a UUID.
  public static func text() throws(SystemError) -> String {
    let file = try FileDescriptor.open(reading: "/proc/sys/kernel/random/boot_id")
    return String(decoding: try file.readToEnd().filter { $0 > 0x20 }, as: UTF8.self)
  }
}

/// CLOCK_REALTIME: what a person's clock shows, and may jump.
public enum WallClock {
  /// Nanoseconds since 1970-01-01 00:00 UTC.
  public static var nanoseconds: Int64 {
    let time = read(CLOCK_REALTIME)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Microseconds since 1970-01-01 00:00 UTC.
  public static func now() -> Int64 {
    let time = read(CLOCK_REALTIME)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}

/// CLOCK_MONOTONIC: stands still while the machine sleeps.
public enum MonotonicClock {
  /// Microseconds since some moment of this boot.
  public static var microseconds: UInt64 {
    let time = read(CLOCK_MONOTONIC)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}

/// CLOCK_THREAD_CPUTIME_ID: the CPU time that the calling thread has used.
enum ThreadClock {
  /// In nanoseconds.
  static func now() -> UInt64 {
    let time = read(CLOCK_THREAD_CPUTIME_ID)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

private func read(_ clock: clockid_t) -> timespec {
  var time = timespec()
  let result = clock_gettime(clock, &time)
  precondition(result == 0, "Linux has had these clocks since 2.6.39")
  return time
}

import Glibc

/// CLOCK_BOOTTIME. It counts while the machine sleeps, and cannot be set.
public enum BootClock {
  /// Returns the nanoseconds since boot.
  public static func now() -> UInt64 {
    let time = read(CLOCK_BOOTTIME)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }

  /// Returns the clock ticks since boot (100 per second). Start times of processes have this unit.
  public static func ticks() -> UInt64 { now() / 10_000_000 }
}

/// The identity of the machine's present boot.
public enum BootIdentity {
  /// Returns the UUID in /proc/sys/kernel/random/boot_id.
  public static func text() throws(SystemError) -> String {
    let file = try FileDescriptor.open(reading: "/proc/sys/kernel/random/boot_id")
    return String(decoding: try file.readToEnd().filter { $0 > 0x20 }, as: UTF8.self)
  }
}

/// CLOCK_REALTIME, the wall clock. It can be set.
public enum WallClock {
  /// Nanoseconds since 1970-01-01 00:00 UTC.
  public static var nanoseconds: Int64 {
    let time = read(CLOCK_REALTIME)
    return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
  }

  /// Returns the microseconds since 1970-01-01 00:00 UTC.
  public static func now() -> Int64 {
    let time = read(CLOCK_REALTIME)
    return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
  }
}

/// CLOCK_MONOTONIC. It does not count while the machine sleeps.
public enum MonotonicClock {
  /// Microseconds since an unspecified point after boot.
  public static var microseconds: UInt64 {
    let time = read(CLOCK_MONOTONIC)
    return UInt64(time.tv_sec) * 1_000_000 + UInt64(time.tv_nsec) / 1000
  }
}

/// CLOCK_THREAD_CPUTIME_ID: the CPU time that the calling thread has used.
public enum ThreadClock {
  /// Returns the time in nanoseconds.
  public static func now() -> UInt64 {
    let time = read(CLOCK_THREAD_CPUTIME_ID)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
  }
}

private func read(_ clock: clockid_t) -> timespec {
  var time = timespec()
  let result = clock_gettime(clock, &time)
  precondition(result == 0, "clock_gettime failed; Linux 2.6.39 or later is required")
  return time
}

import Glibc

/// A trigger of the kernel's pressure stall information (PSI). Its descriptor is ready (EPOLLPRI)
/// when processes have stalled for the given time within a window, at most once in each window.
/// EPOLLERR means that the control group of the trigger was removed.
public struct PressureTrigger: ~Copyable, Sendable {
  private let file: FileDescriptor
  private let path: String
  /// The `total` in the file when the trigger was created or had its last event; nil if the
  /// kernel's events are reliable.
  private var total: Duration?
  /// The instant at which the trigger was first ready.
  private var firstReadyAt: UInt64?
  /// The stall time and the window that the kernel accepted.
  public let stall: Duration
  public let window: Duration

  /// The descriptor for poll(2).
  public var rawValue: Int32 { file.rawValue }

  /// Registers a trigger. The kernel accepts windows from 500 ms to 10 s; without CAP_SYS_RESOURCE,
  /// only multiples of 2 s. Without that capability, the initializer lengthens the window and, in
  /// proportion, the stall time.
  ///
  /// - Parameter path: /proc/pressure/memory, or the `memory.pressure` of a control group.
  /// - Throws: ENOENT or EOPNOTSUPP if the kernel lacks PSI; EACCES, EINVAL.
  public init(path: String, stall: Duration, window: Duration) throws(SystemError) {
    let total = Self.areEventsReliable ? nil : try Self.total(path)
    do throws(SystemError) {
      file = try Self.set(path, stall, window)
      (self.stall, self.window) = (stall, window)
    } catch {
      guard error.errno == EINVAL || error.errno == EPERM else { throw error }
      let step = Duration.seconds(2)
      let longer = step * max(1, min(5, Int((window / step).rounded(.up))))
      let stall = min(longer, stall * (longer / window))
      file = try Self.set(path, stall, longer)
      (self.stall, self.window) = (stall, longer)
    }
    (self.path, self.total) = (path, total)
  }

  /// Returns whether processes have really stalled for the time `stall`. Call this when the trigger
  /// is ready.
  ///
  /// Without CAP_SYS_RESOURCE, the kernel (6.18) counts the stall time since boot. The trigger is
  /// then ready at the first stall, and possibly again in the next window.
  ///
  /// With CAP_SYS_RESOURCE, the events are reliable, and the function returns true without a check.
  /// A check could reject a correct event: the kernel's first window may include stall time before
  /// the creation of the trigger, which the check would not count. The next event could then come
  /// only in the next window.
  public mutating func isTrue() -> Bool {
    guard let before = self.total else { return true }
    let now = BootClock.now()
    let isFirst = firstReadyAt == nil
    let first = firstReadyAt ?? now
    firstReadyAt = first
    guard isFirst || .nanoseconds(Int64(now - first)) <= window * 2,
      let total = try? Self.total(path)
    else { return true }
    self.total = total
    return total - before >= stall
  }

  /// Whether the kernel's events are reliable.
  private static let areEventsReliable = (try? ProcFS())?.mayExceedLimits ?? false

  /// Returns the total of the line `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, which is in
  /// microseconds.
  private static func total(_ path: String) throws(SystemError) -> Duration {
    let bytes = try FileDescriptor.open(reading: path).readToEnd()
    let line = String(decoding: bytes.prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self)
    let number = line.split(separator: "=").last.flatMap { Int64($0) }
    guard let number else { throw SystemError(call: "read \(path)", errno: EINVAL) }
    return .microseconds(number)
  }

  private static func set(
    _ path: String, _ stall: Duration, _ window: Duration
  ) throws(SystemError) -> FileDescriptor {
    // Closing a trigger waits until all CPUs have passed a quiescent state (RCU). This wait must
    // not block the daemon while memory is low.
    let file = FileDescriptor(
      taking: try FileDescriptor.open(path: path, flags: O_RDWR | O_NONBLOCK).take(),
      closesElsewhere: true)
    let number = file.rawValue
    // The kernel drops the last byte of each write, so the text must end with a NUL.
    var text = "some \(microseconds(stall)) \(microseconds(window))"
    try check("write \(path)") {
      text.withUTF8 { bytes in
        withUnsafeTemporaryAllocation(byteCount: bytes.count + 1, alignment: 1) { buffer in
          buffer.copyMemory(from: UnsafeRawBufferPointer(bytes))
          buffer[bytes.count] = 0
          return write(number, buffer.baseAddress, buffer.count)
        }
      }
    }
    return file
  }

  private static func microseconds(_ duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
  }
}

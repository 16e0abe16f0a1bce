import Glibc

/// A trigger of the kernel's pressure stall information (PSI): a file of pressure that is ready
/// (EPOLLPRI) when processes have waited for so long within a window, once in each window at most.
/// EPOLLERR: its control group is gone.
public struct PressureTrigger: ~Copyable, Sendable {
  private let file: FileDescriptor
  private let path: String
  /// What all have waited so far when it was last ready, or was made; nil where the kernel is
  /// believed.
  private var total: Duration?
  /// When it was ready first.
  private var firstReadyAt: UInt64?
  /// What was asked of the kernel in the end.
  public let stall: Duration
  public let window: Duration

  /// For poll(2).
  public var rawValue: Int32 { file.rawValue }

  /// The kernel takes windows from 500 ms to 10 s. From whoever has no CAP_SYS_RESOURCE it takes
  /// multiples of 2 s only: then both are lengthened in proportion.
  ///
  /// - Parameter path: /proc/pressure/memory, or the `memory.pressure` of a control group.
  /// - Throws: ENOENT or EOPNOTSUPP where the kernel has no PSI; EACCES, EINVAL.
  public init(path: String, stall: Duration, window: Duration) throws(SystemError) {
    let total = Self.isBelieved ? nil : try Self.total(path)
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

  /// Whether processes have waited for so long indeed, now that it is ready.
  ///
  /// To a trigger of whoever has no CAP_SYS_RESOURCE the kernel (6.18) counts all waiting since the
  /// boot, so that it is ready with the first that there is, and perhaps in the window after that.
  /// Of whoever has it this is not asked, for it would be wrong: a window begins when the kernel
  /// looked last, before its trigger was made, and what was waited between is missing here. And a
  /// trigger that is not believed is silent for the rest of its window.
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

  /// Whether what it tells is true.
  private static let isBelieved = (try? ProcFS())?.mayExceedLimits ?? false

  /// `some avg10=0.00 avg60=0.00 avg300=0.00 total=0`, in microseconds.
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
    // The kernel takes a trigger away when all processors have passed a quiet state (RCU): that is
    // not to be waited for while memory is short.
    let file = FileDescriptor(
      taking: try FileDescriptor.open(path: path, flags: O_RDWR | O_NONBLOCK).take(),
      closesElsewhere: true)
    let number = file.rawValue
    // The kernel cuts the last byte off: the NUL.
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

/// The identity of a process: its pid and its start time. The pid alone is not sufficient, because
/// the kernel reuses pids.
public struct ProcessIdentity: Hashable, Sendable, CustomStringConvertible {
  public let pid: Int32
  /// The start of the process in clock ticks (100 per second) of CLOCK_BOOTTIME: field 22 of
  /// /proc/PID/stat.
  public let startTime: UInt64

  public init(pid: Int32, startTime: UInt64) {
    self.pid = pid
    self.startTime = startTime
  }

  /// A description such as `1234@567890`.
  public var description: String { "\(pid)@\(startTime)" }
}

/// The state letter of a process or thread in /proc/PID/stat; see proc(5).
public struct ProcessState: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let running = ProcessState(rawValue: UInt8(ascii: "R"))
  public static let sleeping = ProcessState(rawValue: UInt8(ascii: "S"))
  /// The process sleeps uninterruptibly. A stop signal takes effect only after the sleep.
  public static let diskSleep = ProcessState(rawValue: UInt8(ascii: "D"))
  /// A job control signal has stopped the process.
  public static let stopped = ProcessState(rawValue: UInt8(ascii: "T"))
  /// The tracer has stopped the process.
  public static let tracingStop = ProcessState(rawValue: UInt8(ascii: "t"))
  public static let zombie = ProcessState(rawValue: UInt8(ascii: "Z"))
  public static let dead = ProcessState(rawValue: UInt8(ascii: "X"))
  /// An idle kernel thread.
  public static let idle = ProcessState(rawValue: UInt8(ascii: "I"))

  /// Whether the process has ended and executes no further instruction.
  public var hasEnded: Bool { self == .zombie || self == .dead }

  /// Whether the process has ended, or executes no instruction until another process continues it.
  public var isStandingStill: Bool {
    self == .stopped || self == .tracingStop || hasEnded
  }

  public var description: String { String(UnicodeScalar(rawValue)) }
}

/// The content of /proc/PID/stat. Does not allocate.
public struct ProcessStat: Sendable {
  public let pid: Int32
  public let state: ProcessState
  public let parent: Int32
  public let processGroup: Int32
  public let session: Int32
  /// The controlling terminal; nil if the process has none.
  public let terminal: TerminalDevice?
  /// Whether the process is a kernel thread, which has no program.
  public let isKernelThread: Bool
  /// The CPU time of all threads, in user mode and in the kernel, in clock ticks (100 per second).
  public let cpuTicks: UInt64
  /// The CPU time of the descendants that ended and were reaped, in clock ticks.
  public let childrenTicks: UInt64
  public let threadCount: Int32
  /// The start of the process in clock ticks of CLOCK_BOOTTIME.
  public let startTime: UInt64
  /// The exit status of a zombie in the form of wait(2), if this process may read it; else 0.
  let waitStatus: Int32
  private let name: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
  private let nameCount: UInt8

  /// Whether all threads have ended. The state is that of the leading thread, which may end before
  /// the others.
  public var hasEnded: Bool { state.hasEnded && threadCount <= 1 }

  public var identity: ProcessIdentity { ProcessIdentity(pid: pid, startTime: startTime) }

  /// The command's name. It has at most 15 bytes, or 63 for a kernel thread, and a process may set
  /// it to any bytes. Bytes that are not UTF-8 are replaced.
  public var command: String {
    withUnsafeBytes(of: name) { String(decoding: $0.prefix(Int(nameCount)), as: UTF8.self) }
  }

  /// Parses the line; nil if it is malformed. The command is between the first `(` and the last
  /// `)`, and may contain spaces, parentheses and newlines.
  init?(parsing line: UnsafeRawBufferPointer) {
    guard
      let opening = line.firstIndex(of: UInt8(ascii: "(")),
      let closing = line.lastIndex(of: UInt8(ascii: ")")), opening < closing,
      closing + 2 < line.count
    else { return nil }
    var before = DecimalFields(UnsafeRawBufferPointer(rebasing: line[..<opening]))
    var after = DecimalFields(UnsafeRawBufferPointer(rebasing: line[(closing + 3)...]))
    guard let pid = before.next() else { return nil }
    self.pid = Int32(truncatingIfNeeded: pid)
    state = ProcessState(rawValue: line[closing + 2])

    // The fields have the numbers of proc(5). Field 3 is the state.
    var fields: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0, 0, 0, 0)
    var flags: UInt64 = 0
    var children: UInt64 = 0
    var exitCode: UInt64 = 0
    var terminal: UInt64 = 0
    // The exit status matters only for a zombie. For other processes, only half of the line is
    // parsed.
    for number in 4...(state.hasEnded ? 52 : 22) {
      // Old kernels have fewer fields at the end. A line without the start time is malformed.
      guard let value = after.next() else {
        if number <= 22 { return nil }
        break
      }
      switch number {
      case 4: fields.0 = value
      case 5: fields.1 = value
      case 6: fields.2 = value
      case 7: terminal = value
      case 9: flags = value
      case 14: fields.3 = value
      case 15: fields.4 = value
      case 16, 17: children &+= value
      case 20: fields.5 = value
      case 22: fields.6 = value
      case 52: exitCode = value
      default: break
      }
    }
    parent = Int32(truncatingIfNeeded: fields.0)
    processGroup = Int32(truncatingIfNeeded: fields.1)
    session = Int32(truncatingIfNeeded: fields.2)
    self.terminal = TerminalDevice(number: UInt32(truncatingIfNeeded: terminal))
    // PF_KTHREAD of linux/sched.h.
    isKernelThread = flags & 0x0020_0000 != 0
    cpuTicks = fields.3 &+ fields.4
    childrenTicks = children
    threadCount = Int32(truncatingIfNeeded: fields.5)
    startTime = fields.6
    waitStatus = Int32(truncatingIfNeeded: exitCode)

    var name: (UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64, UInt64)
    name = (0, 0, 0, 0, 0, 0, 0, 0)
    let command = line[(opening + 1)..<closing].prefix(64)
    withUnsafeMutableBytes(of: &name) { $0.copyBytes(from: command) }
    self.name = name
    nameCount = UInt8(command.count)
  }
}

/// A parser of decimal numbers that are separated by spaces. It returns negative numbers in two's
/// complement.
struct DecimalFields {
  private let bytes: UnsafeRawBufferPointer
  private var position = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func next() -> UInt64? {
    while position < bytes.count, bytes[position] == UInt8(ascii: " ") { position += 1 }
    var negative = false
    if position < bytes.count, bytes[position] == UInt8(ascii: "-") {
      negative = true
      position += 1
    }
    let start = position
    var value: UInt64 = 0
    while position < bytes.count {
      let digit = bytes[position] &- UInt8(ascii: "0")
      guard digit < 10 else { break }
      value = value &* 10 &+ UInt64(digit)
      position += 1
    }
    guard position > start else { return nil }
    return negative ? 0 &- value : value
  }
}

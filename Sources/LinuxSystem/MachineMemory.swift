import Glibc

/// The memory of the machine in bytes, read from /proc/meminfo.
public struct MachineMemory: Hashable, Sendable {
  public var total: UInt64
  /// MemAvailable: the memory that programs can get without swapping.
  public var available: UInt64
  public var swapTotal: UInt64
  public var swapFree: UInt64

  init?(parsing bytes: [UInt8]) {
    let lines = KeyValueLines(bytes)
    func size(_ key: StaticString) -> UInt64? {
      guard let words = lines.value(key)?.split(separator: " "), words.count == 2,
        words[1] == "kB", let count = UInt64(words[0]), count < 1 << 53
      else { return nil }
      return count * 1024
    }
    guard let total = size("MemTotal"), let available = size("MemAvailable") else { return nil }
    self.total = total
    self.available = available
    swapTotal = size("SwapTotal") ?? 0
    swapFree = size("SwapFree") ?? 0
  }

  /// Reads /proc/meminfo.
  ///
  /// - Throws: EINVAL if the file is malformed.
  public static func read(path: String = "/proc/meminfo") throws(SystemError) -> MachineMemory {
    let bytes = try FileDescriptor.open(reading: path).readToEnd()
    guard let memory = MachineMemory(parsing: bytes) else {
      throw SystemError(
        call: "\(path) has no line 'MemTotal: N kB' or 'MemAvailable: N kB'", errno: EINVAL)
    }
    return memory
  }
}

/// The memory use of a process, read from /proc/PID/statm. A read of this file is cheap and never
/// blocks.
public struct ProcessPages: Hashable, Sendable {
  /// The resident memory in bytes, including shared memory.
  public var resident: UInt64
  /// The resident memory in bytes that belongs to files and shared memory.
  public var shared: UInt64
}

extension ProcFS {
  /// Reads the memory use of a process; nil if it does not exist.
  public func pages(_ pid: Int32) throws(SystemError) -> ProcessPages? {
    guard let bytes = try contents(ProcPath(pid, "statm")) else { return nil }
    return bytes.withUnsafeBytes {
      var fields = DecimalFields($0)
      guard fields.next() != nil, let resident = fields.next(), let shared = fields.next() else {
        return nil
      }
      let size = UInt64(sysconf(Int32(_SC_PAGESIZE)))
      return ProcessPages(resident: UInt64(resident) * size, shared: UInt64(shared) * size)
    }
  }

  /// Returns the swapped memory of a process, in bytes; nil if the process does not exist.
  public func swapped(_ pid: Int32) throws(SystemError) -> UInt64? {
    guard let bytes = try contents(ProcPath(pid, "status")) else { return nil }
    let words = KeyValueLines(bytes).words("VmSwap")
    return words.first.flatMap { UInt64($0) }.map { $0 * 1024 } ?? 0
  }
}

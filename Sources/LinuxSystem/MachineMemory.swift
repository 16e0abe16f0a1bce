import Glibc

/// What /proc/meminfo says of the machine, in bytes.
public struct MachineMemory: Hashable, Sendable {
  public var total: UInt64
  /// MemAvailable: what programs could get without anything being paged out.
  public var available: UInt64
  public var swapTotal: UInt64
  public var swapFree: UInt64

  init?(parsing bytes: [UInt8]) {
    let lines = FieldLines(bytes)
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

  /// Reads it.
  ///
  /// - Throws: EINVAL for a file of another form.
  public static func read(path: String = "/proc/meminfo") throws(SystemError) -> MachineMemory {
    let bytes = try FileDescriptor.open(reading: path).readToEnd()
    guard let memory = MachineMemory(parsing: bytes) else {
      throw SystemError(call: "\(path) names no MemTotal and MemAvailable in kB", errno: EINVAL)
    }
    return memory
  }
}

/// How much memory a process uses, by /proc/PID/statm: cheap to read, and it waits for nothing.
public struct ProcessPages: Hashable, Sendable {
  /// Bytes that are resident, shared ones included.
  public var resident: UInt64
  /// Resident bytes of files and shared memory.
  public var shared: UInt64
}

extension ProcFS {
  /// nil where there is no such process.
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

  /// How much of a process was written to swap, in bytes; nil where there is no such process.
  public func swapped(_ pid: Int32) throws(SystemError) -> UInt64? {
    guard let bytes = try contents(ProcPath(pid, "status")) else { return nil }
    let words = FieldLines(bytes).words("VmSwap")
    return words.first.flatMap { UInt64($0) }.map { $0 * 1024 } ?? 0
  }
}

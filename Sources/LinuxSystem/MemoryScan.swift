import CLinux
import Glibc

/// A measurement of the memory use of processes, on another thread. A read of smaps_rollup waits
/// for the mmap lock of the measured process. Such a wait must not block the caller's thread.
public struct MemoryScan: ~Copyable, Sendable {
  /// A group of processes, whose memory use the caller adds up.
  public struct Group: Hashable, Sendable {
    public var processes: [ProcessIdentity]
    /// An upper bound for the dirty memory of the whole group, in bytes.
    public var bound: UInt64

    public init(processes: [ProcessIdentity], bound: UInt64) {
      self.processes = processes
      self.bound = bound
    }
  }

  /// The memory use of a process.
  public struct Reading: Hashable, Sendable {
    /// The index of the process's group, and the index of the process in that group.
    public var group: Int
    public var process: Int
    /// The private dirty memory and the process's share of swapped memory, in bytes.
    public var dirty: UInt64
    /// The resident memory in bytes, in which shared memory counts in proportion (PSS).
    public var proportional: UInt64
    /// The errno if the read failed: ESRCH if the process has ended, or EACCES.
    public var error: Int32?
  }

  private let output: FileDescriptor
  private let places: [(group: Int, process: Int)]

  /// The descriptor, which is readable when there are results, and after the end of the scan.
  public var rawValue: Int32 { output.rawValue }

  /// Begins a scan, which reads the groups in the given order. The groups must be ordered by their
  /// bounds, the largest first. The scan ends early if it has read a group with at least as much
  /// dirty memory as any remaining group can have.
  ///
  /// - Throws: EMFILE; EAGAIN if the limit on threads is reached.
  public init(of groups: [Group], in proc: ProcFS) throws(SystemError) {
    var processes: [clinux_measured] = []
    var places: [(group: Int, process: Int)] = []
    for (group, one) in groups.enumerated() {
      for (index, process) in one.processes.enumerated() {
        processes.append(
          clinux_measured(
            pid: process.pid, group: UInt32(group), start_time: process.startTime))
        places.append((group, index))
      }
    }
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let output = FileDescriptor(taking: reading)
    let input = FileDescriptor(taking: writing)
    try output.setNonblocking(true)
    let root = try proc.duplicateRoot()
    let (folder, end) = (root.take(), input.take())
    do throws(SystemError) {
      try check("pthread_create") {
        clinux_measure_elsewhere(
          folder, processes, processes.count, groups.map(\.bound), groups.count, end)
      }
    } catch {
      FileDescriptor(taking: folder).close()
      FileDescriptor(taking: end).close()
      throw error
    }
    self.output = output
    self.places = places
  }

  /// Returns the results since the last call; nil if the scan has ended and there are no more.
  public borrowing func take() throws(SystemError) -> [Reading]? {
    let number = rawValue
    let size = MemoryLayout<clinux_rollup>.stride
    var readings: [Reading] = []
    while true {
      var rollup = clinux_rollup()
      let result = attempt("read") { withUnsafeMutableBytes(of: &rollup) {
        read(number, $0.baseAddress, size)
      } }
      switch result {
      case .success(0): return readings.isEmpty ? nil : readings
      case .success:
        let place = places[Int(rollup.index)]
        readings.append(
          Reading(
            group: place.group, process: place.process,
            dirty: rollup.private_dirty + rollup.swapped, proportional: rollup.proportional,
            error: rollup.error == 0 ? nil : rollup.error))
      case .failure(let error):
        guard error.errno == EAGAIN else { throw error }
        return readings
      }
    }
  }
}

/// Operations on the memory of processes.
public enum ProcessMemory {
  /// Frees the memory of killed processes (process_mrelease(2), Linux 5.15). Uses another thread,
  /// because the system call takes time. Without this system call, a killed process frees its
  /// memory only when it runs again.
  public static func release(_ pidfds: [Int32]) {
    var copies: [Int32] = []
    for number in pidfds {
      guard let copy = try? FileDescriptor.duplicate(of: number) else { continue }
      copies.append(copy.take())
    }
    if !copies.isEmpty { clinux_release_memory_elsewhere(copies, copies.count) }
  }

  /// Asks the kernel to write the private writable memory of a process to swap (process_madvise(2)
  /// with MADV_PAGEOUT, Linux 5.10).
  ///
  /// - Parameter maps: The content of /proc/PID/maps.
  /// - Returns: The number of bytes for which the kernel accepted the request.
  /// - Throws: EPERM without CAP_SYS_NICE; ENOSYS; ESRCH if the process has ended.
  @discardableResult
  public static func pageOut(_ pidfd: Int32, maps: [UInt8]) throws(SystemError) -> Int {
    var asked = 0
    var ranges: [iovec] = []
    for line in maps.split(separator: UInt8(ascii: "\n")) {
      if let range = Self.range(line) { ranges.append(range) }
    }
    var rest = ranges[...]
    while !rest.isEmpty {
      // IOV_MAX.
      let batch = Array(rest.prefix(1024))
      rest = rest.dropFirst(1024)
      asked += try check("process_madvise") { clinux_page_out(pidfd, batch, batch.count) }
    }
    return asked
  }

  /// Returns the range of a line such as `7f00-7f01 rw-p …`; nil unless the range is private and
  /// writable.
  private static func range(_ line: ArraySlice<UInt8>) -> iovec? {
    let words = line.split(separator: UInt8(ascii: " "), maxSplits: 2)
    guard words.count == 3, words[1].elementsEqual("rw-p".utf8) else { return nil }
    let ends = String(decoding: words[0], as: UTF8.self).split(separator: "-")
      .compactMap { UInt($0, radix: 16) }
    guard ends.count == 2, ends[0] < ends[1] else { return nil }
    return iovec(
      iov_base: UnsafeMutableRawPointer(bitPattern: ends[0]), iov_len: Int(ends[1] - ends[0]))
  }
}

extension ProcFS {
  /// Reads /proc/PID/maps; nil if the process does not exist.
  public func maps(_ pid: Int32) throws(SystemError) -> [UInt8]? {
    try contents(ProcPath(pid, "maps"))
  }
}

import CLinux
import Glibc

/// The files of /proc that describe processes. Reading them needs no privilege unless a method says
/// otherwise. With the mount option `hidepid`, the processes of other users seem not to exist.
///
/// The methods return nil for a process that does not exist.
public final class ProcFS: Sendable {
  private let root: FileDescriptor
  /// The path of the root in messages.
  private let rootPath: String

  /// - Parameter root: The directory to read. Tests pass a directory with the structure of /proc.
  public init(root: String = "/proc") throws(SystemError) {
    self.root = try FileDescriptor.open(reading: root, flags: O_DIRECTORY)
    rootPath = root
  }

  /// Duplicates the descriptor of the root directory.
  func duplicateRoot() throws(SystemError) -> FileDescriptor { try root.duplicate() }

  /// Reads /proc/PID/stat. Takes about 7 µs, almost all in the kernel, and does not allocate.
  public func stat(_ pid: Int32) throws(SystemError) -> ProcessStat? {
    try stat(ProcPath(pid, "stat"))
  }

  /// Reads the stat file of a thread. The identity in the result is that of the thread.
  public func stat(_ pid: Int32, thread: Int32) throws(SystemError) -> ProcessStat? {
    try stat(ProcPath(pid, thread: thread, "stat"))
  }

  /// Returns the process that has this pid now.
  public func identity(_ pid: Int32) throws(SystemError) -> ProcessIdentity? {
    try stat(pid)?.identity
  }

  /// Returns whether this process exists, perhaps as a zombie. Another process with its pid does
  /// not count.
  public func exists(_ process: ProcessIdentity) throws(SystemError) -> Bool {
    try identity(process.pid) == process
  }

  /// Returns the pids of all visible processes, in no particular order.
  public func pids() throws(SystemError) -> [Int32] {
    try numbers(in: ProcPath(name: "."), expected: 256) ?? []
  }

  /// Returns the ids of a process's threads; nil if the process does not exist.
  public func threads(_ pid: Int32) throws(SystemError) -> [Int32]? {
    try numbers(in: ProcPath(pid, "task"), expected: 16)
  }

  /// Returns the thread ids of a process whose stat file was just read. Does not read the directory
  /// `task` of a process with one thread.
  public func threads(of stat: ProcessStat) throws(SystemError) -> [Int32]? {
    // A single thread is the leading thread, which exists until the last thread has ended.
    stat.threadCount == 1 ? [stat.pid] : try threads(stat.pid)
  }

  /// Returns each thread with its state; nil if the process does not exist.
  public func threadStates(
    _ pid: Int32
  ) throws(SystemError) -> [(thread: Int32, state: ProcessState)]? {
    guard let threads = try threads(pid) else { return nil }
    var states: [(thread: Int32, state: ProcessState)] = []
    states.reserveCapacity(threads.count)
    for thread in threads {
      guard let stat = try stat(ProcPath(pid, thread: thread, "stat")) else { continue }
      states.append((thread, stat.state))
    }
    return states
  }

  /// Returns the existing processes of this list, and all their descendants.
  public func descendants(
    of processes: [ProcessIdentity]
  ) throws(SystemError) -> [ProcessStat] {
    var found: [Int32: ProcessStat] = [:]
    var queue: [Int32] = []
    for process in processes where try exists(process) { queue.append(process.pid) }
    while let pid = queue.popLast() {
      guard found[pid] == nil, let stat = try stat(pid) else { continue }
      found[pid] = stat
      queue += try children(pid) ?? []
    }
    return Array(found.values)
  }

  /// Returns the children of all threads of a process, zombies included; nil if the process does
  /// not exist.
  ///
  /// The result is exact only while the process and its children are stopped, because the kernel
  /// may skip children when other children start or end. Throws ENOENT if the kernel lacks
  /// CONFIG_PROC_CHILDREN.
  public func children(_ pid: Int32) throws(SystemError) -> [Int32]? {
    guard let threads = try threads(pid) else { return nil }
    return try children(pid, of: threads)
  }

  /// Returns the children of a process whose stat file was just read. Does not read the directory
  /// `task` of a process with one thread.
  public func children(of stat: ProcessStat) throws(SystemError) -> [Int32]? {
    if stat.hasEnded { return [] }
    guard let threads = try threads(of: stat) else { return nil }
    return try children(stat.pid, of: threads)
  }

  private func children(_ pid: Int32, of threads: [Int32]) throws(SystemError) -> [Int32] {
    var children: [Int32] = []
    for thread in threads {
      let path = ProcPath(pid, thread: thread, "children")
      guard let bytes = try contents(path) else {
        if try stat(ProcPath(pid, thread: thread, "stat")) != nil, try stat(pid) != nil {
          throw SystemError(call: "openat \(rootPath)/\(path.description)", errno: ENOENT)
        }
        continue
      }
      bytes.withUnsafeBytes {
        var fields = DecimalFields($0)
        while let child = fields.next() { children.append(Int32(truncatingIfNeeded: child)) }
      }
    }
    return children
  }

  /// Returns the parent, its parent and so on, up to the first process of the namespace.
  ///
  /// Each process in the list was the parent at the moment when its child was read. If a process
  /// ends before the function reads it, the list ends before that process.
  public func ancestors(_ pid: Int32) throws(SystemError) -> [ProcessIdentity] {
    var chain: [ProcessIdentity] = []
    var next = try stat(pid)?.parent ?? 0
    while next > 0, let stat = try stat(next) {
      // If a pid were reused between two reads, the list could be endless.
      if chain.contains(stat.identity) { break }
      chain.append(stat.identity)
      next = stat.parent
    }
    return chain
  }
}

extension ProcFS {
  /// Reads a small file of a process; nil if it does not exist.
  func contents(_ path: borrowing ProcPath) throws(SystemError) -> [UInt8]? {
    guard let file = try open(path) else { return nil }
    do {
      return try file.readToEnd()
    } catch {
      if error.errno == ESRCH { return nil }
      throw error
    }
  }

  /// Returns whether this process has the permission to trace another process. Reading the exit
  /// status in a zombie's stat file needs this permission. The function tests the permission with
  /// the link `cwd` of the other process, because the kernel applies the same rule to this link.
  func mayTrace(_ pid: Int32) -> Bool {
    let directory = root.rawValue
    let result = ProcPath(pid, "cwd").withCString { path in
      withUnsafeTemporaryAllocation(of: CChar.self, capacity: 1) { target in
        attempt("readlinkat") { readlinkat(directory, path, target.baseAddress!, 1) }
      }
    }
    switch result {
    case .success: return true
    // A zombie has no working directory. A caller with the permission gets ENOENT, any other caller
    // gets EACCES.
    case .failure(let error): return error.errno == ENOENT
    }
  }

  /// Reads a small file without the white space at its end; nil if it does not exist.
  func text(_ path: String) throws(SystemError) -> String? {
    guard let bytes = try bytes(path) else { return nil }
    let end = bytes.lastIndex { $0 > UInt8(ascii: " ") }.map { $0 + 1 } ?? 0
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  /// Reads a file; nil if it does not exist.
  func bytes(_ path: String) throws(SystemError) -> [UInt8]? {
    guard let file = try open(path, O_RDONLY) else { return nil }
    do throws(SystemError) {
      return try file.readToEnd()
    } catch {
      if error.errno == ESRCH { return nil }
      throw error
    }
  }

  /// Writes to a file. Does nothing if the file does not exist.
  func write(_ text: String, to path: String) throws(SystemError) {
    guard let file = try open(path, O_WRONLY) else { return }
    let number = file.rawValue
    var text = text
    let result = text.withUTF8 { bytes in
      attempt("write") { Glibc.write(number, bytes.baseAddress, bytes.count) }
    }
    guard case .failure(let error) = result, error.errno != ESRCH else { return }
    throw SystemError(call: "write \(rootPath)/\(path)", errno: error.errno)
  }

  /// Returns the target of a symbolic link; nil if it does not exist.
  func link(_ path: String) throws(SystemError) -> String? {
    let directory = root.rawValue
    let result = withUnsafeTemporaryAllocation(of: CChar.self, capacity: 4096) {
      buffer -> Result<String, SystemError> in
      attempt("readlinkat") { readlinkat(directory, path, buffer.baseAddress!, buffer.count) }.map {
        String(decoding: UnsafeRawBufferPointer(buffer)[..<$0], as: UTF8.self)
      }
    }
    switch result {
    case .success(let target): return target
    case .failure(let error):
      if [ENOENT, ESRCH, EINVAL].contains(error.errno) { return nil }
      throw SystemError(call: "readlinkat \(rootPath)/\(path)", errno: error.errno)
    }
  }

  func open(_ path: String, _ flags: Int32) throws(SystemError) -> FileDescriptor? {
    let directory = root.rawValue
    let number = attempt("openat") { clinux_open_at(directory, path, flags) }
    switch number {
    case .success(let number): return FileDescriptor(taking: number)
    case .failure(let error):
      if error.errno == ENOENT || error.errno == ESRCH { return nil }
      throw SystemError(call: "openat \(rootPath)/\(path)", errno: error.errno)
    }
  }

  private func stat(_ path: borrowing ProcPath) throws(SystemError) -> ProcessStat? {
    guard let file = try open(path) else { return nil }
    let number = file.rawValue
    // The buffer has room for 52 fields of at most 20 digits and a name of at most 64 bytes, so one
    // read returns the whole line.
    let result = withUnsafeTemporaryAllocation(byteCount: 1280, alignment: 8) {
      buffer -> Result<ProcessStat?, SystemError> in
      attempt("read") { read(number, buffer.baseAddress, buffer.count) }.map {
        ProcessStat(parsing: UnsafeRawBufferPointer(rebasing: buffer[..<$0]))
      }
    }
    switch result {
    case .success(let stat): return stat
    case .failure(let error):
      if error.errno == ESRCH { return nil }
      throw error
    }
  }

  private func open(_ path: borrowing ProcPath) throws(SystemError) -> FileDescriptor? {
    let directory = root.rawValue
    let result = path.withCString { path in
      attempt("openat") { clinux_open_at(directory, path, O_RDONLY) }
    }
    switch result {
    case .success(let number): return FileDescriptor(taking: number)
    case .failure(let error):
      if error.errno == ENOENT || error.errno == ESRCH { return nil }
      throw SystemError(call: "openat \(rootPath)/\(path.description)", errno: error.errno)
    }
  }

  /// Returns the entries of a directory that are numbers.
  private func numbers(
    in path: borrowing ProcPath, expected: Int
  ) throws(SystemError) -> [Int32]? {
    guard let folder = try open(path) else { return nil }
    return try numbers(in: folder, expected: expected)
  }

  private func numbers(
    in folder: consuming FileDescriptor, expected: Int
  ) throws(SystemError) -> [Int32]? {
    let number = folder.rawValue
    var found: [Int32] = []
    found.reserveCapacity(expected)
    let result = withUnsafeTemporaryAllocation(byteCount: 32_768, alignment: 8) {
      buffer -> Result<Int, SystemError> in
      while true {
        let result = attempt("getdents64") {
          clinux_getdents(number, buffer.baseAddress, buffer.count)
        }
        guard case .success(let count) = result, count > 0 else { return result }
        Self.appendNumbers(UnsafeRawBufferPointer(rebasing: buffer[..<count]), to: &found)
      }
    }
    switch result {
    case .success: return found
    case .failure(let error):
      // The directory belongs to a process that has ended since the directory was opened.
      if error.errno == ENOENT || error.errno == ESRCH { return nil }
      throw error
    }
  }

  /// Appends the entries whose names are numbers.
  ///
  /// struct linux_dirent64: d_ino 8, d_off 8, d_reclen 2, d_type 1, d_name to a NUL.
  static func appendNumbers(_ entries: UnsafeRawBufferPointer, to found: inout [Int32]) {
    var offset = 0
    while offset < entries.count {
      let length = Int(entries.load(fromByteOffset: offset + 16, as: UInt16.self))
      let name = entries[(offset + 19)..<(offset + length)].prefix(while: { $0 != 0 })
      if let first = name.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first) {
        var fields = DecimalFields(UnsafeRawBufferPointer(rebasing: name))
        if let value = fields.next() { found.append(Int32(truncatingIfNeeded: value)) }
      }
      offset += length
    }
  }
}

/// A short path under /proc, built without an allocation.
struct ProcPath: ~Copyable {
  private let pid: Int32?
  private let thread: Int32?
  private let name: StaticString

  init(_ pid: Int32, thread: Int32? = nil, _ name: StaticString) {
    self.pid = pid
    self.thread = thread
    self.name = name
  }

  init(name: StaticString) {
    pid = nil
    thread = nil
    self.name = name
  }

  /// Calls a closure with the decimal digits of a number, as the name of a directory entry.
  static func withName<Result>(
    of number: Int32, _ body: (UnsafePointer<CChar>) -> Result
  ) -> Result {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 12) { buffer in
      var place = 11
      buffer[place] = 0
      var rest = number.magnitude
      repeat {
        place -= 1
        buffer[place] = CChar(UInt8(ascii: "0") + UInt8(rest % 10))
        rest /= 10
      } while rest > 0
      return body(UnsafePointer(buffer.baseAddress! + place))
    }
  }

  borrowing func withCString<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
    withUnsafeTemporaryAllocation(byteCount: 96, alignment: 1) { buffer in
      var count = 0
      func append(_ bytes: UnsafeBufferPointer<UInt8>) {
        for byte in bytes {
          buffer[count] = byte
          count += 1
        }
      }
      func append(_ value: Int32) {
        let start = count
        var rest = value.magnitude
        repeat {
          buffer[count] = UInt8(ascii: "0") + UInt8(rest % 10)
          rest /= 10
          count += 1
        } while rest > 0
        buffer[start..<count].reverse()
        buffer[count] = UInt8(ascii: "/")
        count += 1
      }
      if let pid { append(pid) }
      if let thread {
        ("task/" as StaticString).withUTF8Buffer { append($0) }
        append(thread)
      }
      name.withUTF8Buffer { append($0) }
      buffer[count] = 0
      return body(buffer.baseAddress!.assumingMemoryBound(to: CChar.self))
    }
  }

  var description: String { withCString { String(cString: $0) } }
}

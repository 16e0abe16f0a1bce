import CLinux
import Glibc

/// A control group in the cgroup v2 hierarchy, identified by its directory.
///
/// Creating, changing and removing a group needs write permission in the hierarchy. Root has this
/// permission, and a user has it in a delegated group (systemd's `Delegate=`). Reading a group
/// needs no privilege.
public struct ControlGroup: Hashable, Sendable {
  /// The absolute path of the group's directory, without a slash at the end.
  public let path: String

  public init(path: String) { self.path = path }

  /// The last component of the group's path.
  public var name: String {
    String(Substring(path.utf8.split(separator: UInt8(ascii: "/")).last ?? "".utf8[...]))
  }

  /// Returns the mount point of the v2 hierarchy: /sys/fs/cgroup, or /sys/fs/cgroup/unified in a
  /// hybrid set-up; nil if the hierarchy is not mounted.
  public static func mountPoint(
    mountInfo: String = "/proc/self/mountinfo"
  ) throws(SystemError) -> ControlGroup? {
    try mount(mountInfo).map { ControlGroup(path: $0.point) }
  }

  /// Returns the group of a process; nil if the process does not exist, or if there is no v2
  /// hierarchy. Also returns nil if the process's group is not below the mount point.
  public static func of(_ pid: Int32, in proc: ProcFS) throws(SystemError) -> ControlGroup? {
    guard let mount = try mount("/proc/self/mountinfo"), let path = try proc.cgroup(pid) else {
      return nil
    }
    // The mount may show only a part of the hierarchy. A path through `..` is outside of that part.
    let prefix = mount.root == "/" ? "" : mount.root
    guard path == prefix || path.hasPrefix("\(prefix)/"), !path.hasPrefix("/..") else {
      return nil
    }
    let rest = path.dropFirst(prefix.utf8.count)
    return ControlGroup(path: mount.point + (rest == "/" ? "" : rest))
  }

  /// Returns the group of this process, as ``of(_:in:)`` does.
  public static func own(in proc: ProcFS) throws(SystemError) -> ControlGroup? {
    try of(getpid(), in: proc)
  }

  /// Returns the group with this name directly below this group. That group need not exist.
  public func child(_ name: String) -> ControlGroup {
    precondition(
      !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/")),
      "a cgroup's name must be one component of a path")
    return ControlGroup(path: "\(path)/\(name)")
  }

  public var exists: Bool { access("\(path)/cgroup.procs", F_OK) == 0 }

  /// Whether this process may create groups below this group, and move the processes of this group
  /// into them. This depends on the permissions of the group's directory and of its cgroup.procs.
  /// The hierarchy must also be writable.
  ///
  /// Moving a process also needs write permission in cgroup.procs of the nearest common ancestor of
  /// its present group and the new one.
  public var isDelegated: Bool {
    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
      && faccessat(AT_FDCWD, "\(path)/cgroup.procs", W_OK, AT_EACCESS) == 0
  }

  /// Creates the group's directory.
  ///
  /// - Throws: EEXIST, EACCES, EROFS, EAGAIN (cgroup.max.descendants).
  public func create() throws(SystemError) {
    try check("mkdir \(path)") { mkdir(path, 0o755) }
  }

  /// Removes the group and all groups below it, the lowest first. A group that does not exist is
  /// not an error.
  ///
  /// - Throws: EBUSY while one of the groups contains processes (zombies do not count).
  public func remove() throws(SystemError) {
    for child in try children() { try child.remove() }
    try check("rmdir \(path)", nilFor: ENOENT) { rmdir(path) }
  }

  /// Returns the groups directly below this group; none if this group does not exist.
  public func children() throws(SystemError) -> [ControlGroup] {
    guard let folder = opendir(path) else {
      let code = errno
      if code == ENOENT { return [] }
      throw SystemError(call: "opendir \(path)", errno: code)
    }
    defer { closedir(folder) }
    var found: [ControlGroup] = []
    while let entry = readdir(folder) {
      guard entry.pointee.d_type == UInt8(DT_DIR) else { continue }
      let name = withUnsafeBytes(of: &entry.pointee.d_name) {
        String(decoding: $0.prefix(while: { $0 != 0 }), as: UTF8.self)
      }
      if name != ".", name != ".." { found.append(child(name)) }
    }
    return found
  }

  private struct Mount {
    var root: String
    var point: String
  }

  /// Returns the first mount of type cgroup2 in proc_pid_mountinfo(5). Field 4 is the root, and
  /// field 5 is the mount point; the type follows ` - `.
  private static func mount(_ path: String) throws(SystemError) -> Mount? {
    let bytes = try FileDescriptor.open(reading: path).readToEnd()
    for line in bytes.split(separator: UInt8(ascii: "\n")) {
      let words = line.split(separator: UInt8(ascii: " "))
      guard
        let dash = words.firstIndex(where: { $0.elementsEqual("-".utf8) }), dash >= 6,
        words.count > dash + 1, words[dash + 1].elementsEqual("cgroup2".utf8)
      else { continue }
      return Mount(root: unescape(words[3]), point: unescape(words[4]))
    }
    return nil
  }

  /// Decodes a path in which a backslash and three octal digits represent a space, a tab, a newline
  /// or a backslash.
  private static func unescape(_ word: ArraySlice<UInt8>) -> String {
    var bytes: [UInt8] = []
    var rest = word
    while let byte = rest.popFirst() {
      let digits = rest.prefix(3)
      if byte == UInt8(ascii: "\\"), digits.count == 3,
        let value = UInt8(String(decoding: digits, as: UTF8.self), radix: 8)
      {
        bytes.append(value)
        rest = rest.dropFirst(3)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}

// MARK: Processes

extension ControlGroup {
  /// The content of cgroup.events.
  public struct Events: Hashable, Sendable {
    /// Whether this group or a group below it has living processes.
    public var isPopulated: Bool
    /// Whether all processes of this group and of groups below are frozen. False on kernels before
    /// 5.2.
    public var isFrozen: Bool

    init(parsing bytes: [UInt8]) {
      let lines = KeyValueLines(bytes)
      isPopulated = lines.integer("populated") == 1
      isFrozen = lines.integer("frozen") == 1
    }
  }

  /// Moves a process with all its threads into this group. Unless the process is an unreaped child
  /// of this process, the caller must check afterwards which process has the pid.
  ///
  /// Needs write permission in cgroup.procs of this group, and of the nearest common ancestor of
  /// this group and the present group of the process.
  ///
  /// - Throws: ESRCH, EACCES, EBUSY (a group that passes controllers to children).
  public func add(_ pid: Int32) throws(SystemError) {
    try write("\(pid)", to: "cgroup.procs")
  }

  /// Freezes all processes of this group and of groups below; `events` reports when they are frozen
  /// (Linux 5.2). Needs write permission in cgroup.freeze.
  public func freeze() throws(SystemError) { try write("1", to: "cgroup.freeze") }

  /// Thaws the processes. A group stays frozen while a group above it is frozen.
  public func thaw() throws(SystemError) { try write("0", to: "cgroup.freeze") }

  /// Sends SIGKILL to all processes of this group and of groups below, including forks in progress
  /// (Linux 5.14). Needs write permission in cgroup.kill.
  public func kill() throws(SystemError) { try write("1", to: "cgroup.kill") }

  /// Whether this process has permission to move processes into the group. In some sandboxes,
  /// groups are read-only.
  public var isWritable: Bool {
    faccessat(AT_FDCWD, "\(path)/cgroup.procs", W_OK, AT_EACCESS) == 0
  }

  /// Whether the kernel can freeze this group, and this process has the permission to do so.
  public var canFreeze: Bool { faccessat(AT_FDCWD, "\(path)/cgroup.freeze", W_OK, AT_EACCESS) == 0 }

  /// Returns the present content of cgroup.events.
  public func events() throws(SystemError) -> Events {
    Events(parsing: try read("cgroup.events"))
  }

  /// Returns whether a process has asked the kernel to freeze the group, even if not all its
  /// processes are frozen yet. Returns nil if the group does not exist or the kernel cannot freeze.
  public func isToBeFrozen() throws(SystemError) -> Bool? {
    do throws(SystemError) {
      return try read("cgroup.freeze").first == UInt8(ascii: "1")
    } catch {
      if [ENOENT, ENODEV].contains(error.errno) { return nil }
      throw error
    }
  }

  /// Returns whether all processes of this group and of groups below are frozen.
  public func isFrozen() throws(SystemError) -> Bool { try events().isFrozen }

  /// Returns whether this group or a group below has a process.
  public func isPopulated() throws(SystemError) -> Bool { try events().isPopulated }

  /// Opens cgroup.events for poll(2), which reports POLLPRI when the file has changed since the
  /// last `events(of:)`. Read the file once before the first poll.
  public func watchEvents() throws(SystemError) -> FileDescriptor {
    try FileDescriptor.open(reading: "\(path)/cgroup.events")
  }

  /// Reads cgroup.events through a descriptor from `watchEvents`; returns nil if the group no
  /// longer exists.
  public static func events(of watch: Int32) throws(SystemError) -> Events? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = try check("pread cgroup.events", nilFor: ENODEV) {
      pread(watch, &bytes, bytes.count, 0)
    }
    return count.map { Events(parsing: Array(bytes[..<$0])) }
  }

  /// Returns the processes of this group and of groups below, without zombies; none if the group
  /// does not exist. 0 stands for a process that is not visible in this pid namespace.
  ///
  /// - Parameter recursively: If false, returns only the processes of this group itself.
  public func processes(recursively: Bool = true) throws(SystemError) -> [Int32] {
    var found: [Int32] = []
    try appendProcesses(to: &found, recursively: recursively)
    return found
  }

  /// Returns the CPU time that the processes of this group and of groups below have used since the
  /// group was created, in microseconds. Needs no controller.
  public func cpuMicroseconds() throws(SystemError) -> UInt64 {
    guard let usage = KeyValueLines(try read("cpu.stat")).integer("usage_usec") else {
      throw SystemError(call: "read \(path)/cpu.stat", errno: ENODATA)
    }
    return UInt64(clamping: usage)
  }

  private func appendProcesses(
    to found: inout [Int32], recursively: Bool
  ) throws(SystemError) {
    do {
      try read("cgroup.procs").withUnsafeBytes {
        for line in $0.split(separator: UInt8(ascii: "\n")) {
          var fields = DecimalFields(UnsafeRawBufferPointer(rebasing: line))
          if let pid = fields.next() { found.append(Int32(truncatingIfNeeded: pid)) }
        }
      }
    } catch {
      // The group no longer exists.
      if error.errno == ENOENT || error.errno == ENODEV { return }
      throw error
    }
    guard recursively else { return }
    for child in try children() { try child.appendProcesses(to: &found, recursively: true) }
  }

  private func read(_ file: String) throws(SystemError) -> [UInt8] {
    try FileDescriptor.open(reading: "\(path)/\(file)").readToEnd()
  }

  func write(_ text: String, to file: String) throws(SystemError) {
    let place = "\(path)/\(file)"
    let number = try FileDescriptor.open(writing: place).take()
    let descriptor = FileDescriptor(taking: number)
    var text = text
    let result = text.withUTF8 { bytes in
      attempt("write \(place)") { Glibc.write(number, bytes.baseAddress, bytes.count) }
    }
    descriptor.close()
    _ = try result.get()
  }
}

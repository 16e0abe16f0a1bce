import CLinux
import Glibc

/// A control group in the cgroup v2 hierarchy, identified by its directory.
///
/// Creating, changing and removing one needs write permission in the hierarchy. Root has it, and a
/// user has it in a delegated group (systemd's `Delegate=`). Reading needs no privilege.
public struct ControlGroup: Hashable, Sendable {
  /// The absolute path of its directory, without a slash at the end.
  public let path: String

  public init(path: String) { self.path = path }

  /// The last part of its path.
  public var name: String {
    String(Substring(path.utf8.split(separator: UInt8(ascii: "/")).last ?? "".utf8[...]))
  }

  /// The mount point of the v2 hierarchy: /sys/fs/cgroup, or /sys/fs/cgroup/unified in a hybrid
  /// set-up; nil if it is not mounted.
  public static func mountPoint(
    mountInfo: String = "/proc/self/mountinfo"
  ) throws(SystemError) -> ControlGroup? {
    try mount(mountInfo).map { ControlGroup(path: $0.point) }
  }

  /// Returns the group of a process; nil if the process does not exist, there is no v2 hierarchy,
  /// or its group is not below the mount point.
  public static func of(_ pid: Int32, in proc: ProcFS) throws(SystemError) -> ControlGroup? {
    guard let mount = try mount("/proc/self/mountinfo"), let path = try proc.cgroup(pid) else {
      return nil
    }
    // The mount may show only a part of the hierarchy. A path through `..` is outside of it.
    let prefix = mount.root == "/" ? "" : mount.root
    guard path == prefix || path.hasPrefix("\(prefix)/"), !path.hasPrefix("/..") else {
      return nil
    }
    let rest = path.dropFirst(prefix.utf8.count)
    return ControlGroup(path: mount.point + (rest == "/" ? "" : rest))
  }

  /// Returns the group of this process.
  public static func own(in proc: ProcFS) throws(SystemError) -> ControlGroup? {
    try of(getpid(), in: proc)
  }

  /// Returns the child of this name, which need not exist.
  public func child(_ name: String) -> ControlGroup {
    precondition(
      !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/")),
      "a cgroup's name is one component of a path")
    return ControlGroup(path: "\(path)/\(name)")
  }

  public var exists: Bool { access("\(path)/cgroup.procs", F_OK) == 0 }

  /// Returns whether this process may create children of this group and move its processes into
  /// them. This depends on the permissions of its directory and of its cgroup.procs, and on a
  /// hierarchy that is not read-only.
  ///
  /// Moving a process also needs write permission in cgroup.procs of the nearest common ancestor of
  /// both groups.
  public var isDelegated: Bool {
    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
      && faccessat(AT_FDCWD, "\(path)/cgroup.procs", W_OK, AT_EACCESS) == 0
  }

  /// Creates its directory. Errors: EEXIST, EACCES, EROFS, EAGAIN (cgroup.max.descendants).
  public func create() throws(SystemError) {
    try check("mkdir \(path)") { mkdir(path, 0o755) }
  }

  /// Removes it and all groups below, the lowest first. A group that does not exist is not an
  /// error.
  ///
  /// - Throws: EBUSY while there are processes (zombies do not count).
  public func remove() throws(SystemError) {
    for child in try children() { try child.remove() }
    try check("rmdir \(path)", nilFor: ENOENT) { rmdir(path) }
  }

  /// Returns its children; none if this group does not exist.
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

  /// Fields of proc_pid_mountinfo(5): 4 the root, 5 the mount point, after ` - ` the type. The last
  /// mount at a place hides those before.
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

  /// Space, tab, newline and backslash are written as a backslash and three octal digits.
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

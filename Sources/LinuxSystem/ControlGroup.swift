import CLinux
import Glibc

/// A group of processes in the cgroup v2 hierarchy, named by its folder.
///
/// Making, changing and removing one needs write permission in the hierarchy: root, or a user to
/// whom the group was delegated (systemd's `Delegate=`). Reading needs no privilege.
public struct ControlGroup: Hashable, Sendable {
  /// The absolute path of its folder, without a slash at the end.
  public let path: String

  public init(path: String) { self.path = path }

  /// The last part of its path.
  public var name: String {
    String(Substring(path.utf8.split(separator: UInt8(ascii: "/")).last ?? "".utf8[...]))
  }

  /// Where the v2 hierarchy is mounted (alone at /sys/fs/cgroup, or in a hybrid set-up at
  /// /sys/fs/cgroup/unified); nil where it is not.
  public static func mountPoint(
    mountInfo: String = "/proc/self/mountinfo"
  ) throws(SystemError) -> ControlGroup? {
    try mount(mountInfo).map { ControlGroup(path: $0.point) }
  }

  /// The group of a process; nil where the process is gone, there is no v2 hierarchy, or its group
  /// is not under our mount.
  public static func of(_ pid: Int32, in proc: ProcFS) throws(SystemError) -> ControlGroup? {
    guard let mount = try mount("/proc/self/mountinfo"), let path = try proc.cgroup(pid) else {
      return nil
    }
    // The mount may show a part of the hierarchy only; a path through `..` is outside of ours.
    let prefix = mount.root == "/" ? "" : mount.root
    guard path == prefix || path.hasPrefix("\(prefix)/"), !path.hasPrefix("/..") else {
      return nil
    }
    let rest = path.dropFirst(prefix.utf8.count)
    return ControlGroup(path: mount.point + (rest == "/" ? "" : rest))
  }

  /// Our own group.
  public static func own(in proc: ProcFS) throws(SystemError) -> ControlGroup? {
    try of(getpid(), in: proc)
  }

  /// The child of this name, whether it exists or not.
  public func child(_ name: String) -> ControlGroup {
    precondition(
      !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/")),
      "a cgroup's name is one component of a path")
    return ControlGroup(path: "\(path)/\(name)")
  }

  public var exists: Bool { access("\(path)/cgroup.procs", F_OK) == 0 }

  /// Whether we may make children here and move processes of this group into them: by the
  /// permissions of its folder and of its cgroup.procs, and a hierarchy that is not read-only.
  ///
  /// Moving a process also needs write permission in cgroup.procs of the nearest group that is
  /// above both where it is and where it goes.
  public var isDelegated: Bool {
    faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) == 0
      && faccessat(AT_FDCWD, "\(path)/cgroup.procs", W_OK, AT_EACCESS) == 0
  }

  /// Makes its folder. Errors: EEXIST, EACCES, EROFS, EAGAIN (cgroup.max.descendants).
  public func create() throws(SystemError) {
    try check("mkdir \(path)") { mkdir(path, 0o755) }
  }

  /// Removes it and all groups below, the lowest first. That one is gone already is no error.
  ///
  /// - Throws: EBUSY while there are processes (zombies do not count).
  public func remove() throws(SystemError) {
    for child in try children() { try child.remove() }
    try check("rmdir \(path)", nilFor: ENOENT) { rmdir(path) }
  }

  /// The groups directly below; none where this group is gone.
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

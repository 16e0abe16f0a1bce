/// The content of /proc/PID/status that `ProcessStat` lacks.
public struct ProcessDetails: Hashable, Sendable {
  /// The real, effective, saved and file system ids of a user or a group (credentials(7)).
  public struct UserIDs: Hashable, Sendable {
    public var real: UInt32
    public var effective: UInt32
    public var saved: UInt32
    public var fileSystem: UInt32
  }

  /// The id of the thread that traces the leading thread; 0 if there is none. Another thread may
  /// have a tracer even if the leading thread has none.
  public var tracerPID: Int32
  public var uids: UserIDs
  public var gids: UserIDs
  public var groups: [UInt32]
  /// The pending signals of the leading thread: bit n-1 is signal n.
  public var pendingThread: UInt64
  /// The pending signals of the process as a whole.
  public var pendingProcess: UInt64

  /// Returns whether a signal is pending for the process or its leading thread.
  public func isPending(_ signal: Int32) -> Bool {
    (pendingThread | pendingProcess) & (1 << UInt64(signal - 1)) != 0
  }

  init?(parsing bytes: [UInt8]) {
    let lines = KeyValueLines(bytes)
    guard
      let tracer = lines.integer("TracerPid"),
      let uids = UserIDs(lines.words("Uid")), let gids = UserIDs(lines.words("Gid")),
      let thread = lines.value("SigPnd").flatMap({ UInt64($0, radix: 16) }),
      let process = lines.value("ShdPnd").flatMap({ UInt64($0, radix: 16) })
    else { return nil }
    tracerPID = Int32(truncatingIfNeeded: tracer)
    self.uids = uids
    self.gids = gids
    groups = lines.words("Groups").compactMap { UInt32($0) }
    pendingThread = thread
    pendingProcess = process
  }
}

extension ProcessDetails.UserIDs {
  fileprivate init?(_ words: [Substring]) {
    let ids = words.compactMap { UInt32($0) }
    guard ids.count == 4 else { return nil }
    self.init(real: ids[0], effective: ids[1], saved: ids[2], fileSystem: ids[3])
  }
}

extension ProcFS {
  /// Reads /proc/PID/status; nil if the process does not exist. Takes about 40 µs, so do not call
  /// it for every process.
  public func details(_ pid: Int32) throws(SystemError) -> ProcessDetails? {
    try contents(ProcPath(pid, "status")).flatMap { ProcessDetails(parsing: $0) }
  }

  /// Returns the process that traces a thread; nil if no process does, or the thread does not
  /// exist.
  public func tracer(of thread: Int32, in process: Int32) throws(SystemError) -> Int32? {
    let tracing = try contents(ProcPath(process, thread: thread, "status"))
      .flatMap { KeyValueLines($0).integer("TracerPid") } ?? 0
    if tracing == 0 { return nil }
    let tracer = Int32(truncatingIfNeeded: tracing)
    // TracerPid is the id of a thread, which need not be the leading thread of the tracing process.
    let bytes = try contents(ProcPath(tracer, "status")) ?? []
    return KeyValueLines(bytes).integer("Tgid").map { Int32(truncatingIfNeeded: $0) } ?? tracer
  }

  /// Returns whether the initial environment of a process has this entry.
  ///
  /// The caller needs the permission to trace the process. It has the permission as root, or as the
  /// same user if the process may dump core.
  ///
  /// - Parameter entry: the bytes of `KEY=value`.
  /// - Returns: nil if the process does not exist; false for a zombie, which has no environment.
  /// - Throws: EACCES.
  public func environment(
    _ pid: Int32, contains entry: [UInt8]
  ) throws(SystemError) -> Bool? {
    guard let bytes = try contents(ProcPath(pid, "environ")) else { return nil }
    return bytes.split(separator: 0).contains { $0.elementsEqual(entry) }
  }

  /// Returns the value of a variable in the initial environment of a process. If the variable
  /// occurs twice, returns the first value.
  ///
  /// Needs the same permission as `environment(_:contains:)`.
  ///
  /// - Returns: nil if the variable is not set, or the process is a zombie or does not exist.
  /// - Throws: EACCES.
  public func environmentValue(
    _ pid: Int32, of name: String
  ) throws(SystemError) -> String? {
    try environmentValues(pid, of: [name])[name]
  }

  /// Returns the values of several variables in the initial environment of a process, from one
  /// read.
  public func environmentValues(
    _ pid: Int32, of names: [String]
  ) throws(SystemError) -> [String: String] {
    let entries = try contents(ProcPath(pid, "environ"))?.split(separator: 0) ?? []
    var values: [String: String] = [:]
    for name in names {
      let prefix = Array("\(name)=".utf8)
      values[name] = entries.first { $0.starts(with: prefix) }
        .map { String(decoding: $0.dropFirst(prefix.count), as: UTF8.self) }
    }
    return values
  }

  /// Returns the path of a process's cgroup in the v2 hierarchy, such as `/` or `/user.slice`. The
  /// path begins at the root of this cgroup namespace. The kernel appends ` (deleted)` if the
  /// cgroup was removed.
  ///
  /// - Returns: nil if there is no such process or no v2 hierarchy.
  public func cgroup(_ pid: Int32) throws(SystemError) -> String? {
    guard let bytes = try contents(ProcPath(pid, "cgroup")) else { return nil }
    let prefix = Array("0::".utf8)
    for line in bytes.split(separator: UInt8(ascii: "\n")) where line.starts(with: prefix) {
      return String(decoding: line.dropFirst(prefix.count), as: UTF8.self)
    }
    return nil
  }
}

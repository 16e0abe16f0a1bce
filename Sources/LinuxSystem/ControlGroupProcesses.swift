import Glibc

extension ControlGroup {
  /// The content of cgroup.events.
  public struct Events: Hashable, Sendable {
    /// Whether there are living processes here or below.
    public var isPopulated: Bool
    /// Whether all processes here and below are frozen. False on kernels before 5.2.
    public var isFrozen: Bool

    init(parsing bytes: [UInt8]) {
      let lines = FieldLines(bytes)
      isPopulated = lines.integer("populated") == 1
      isFrozen = lines.integer("frozen") == 1
    }
  }

  /// Moves a process here, with all its threads. The pid must belong to an unreaped child of this
  /// process, or the caller must check its identity afterwards.
  ///
  /// Needs write permission in cgroup.procs here and in that of the nearest common ancestor.
  /// Errors: ESRCH, EACCES, EBUSY (a group that passes controllers on to children).
  public func add(_ pid: Int32) throws(SystemError) {
    try write("\(pid)", to: "cgroup.procs")
  }

  /// Freezes all processes here and below; `events` reports when they are frozen. Linux 5.2. Needs
  /// write permission in cgroup.freeze.
  public func freeze() throws(SystemError) { try write("1", to: "cgroup.freeze") }

  /// Thaws them. A group stays frozen while a group above it is frozen.
  public func thaw() throws(SystemError) { try write("0", to: "cgroup.freeze") }

  /// Sends SIGKILL to all processes here and below, including forks in progress. Linux 5.14. Needs
  /// write permission in cgroup.kill.
  public func kill() throws(SystemError) { try write("1", to: "cgroup.kill") }

  /// Returns whether the kernel can freeze this group and this process may do it.
  public var canFreeze: Bool { faccessat(AT_FDCWD, "\(path)/cgroup.freeze", W_OK, AT_EACCESS) == 0 }

  /// Returns the present content of cgroup.events.
  public func events() throws(SystemError) -> Events {
    Events(parsing: try read("cgroup.events"))
  }

  /// Returns whether the group was told to freeze, even if not all its processes are frozen yet;
  /// nil if the group does not exist or the kernel cannot freeze.
  public func isToBeFrozen() throws(SystemError) -> Bool? {
    do throws(SystemError) {
      return try read("cgroup.freeze").first == UInt8(ascii: "1")
    } catch {
      if [ENOENT, ENODEV].contains(error.errno) { return nil }
      throw error
    }
  }

  /// Returns whether all processes here and below are frozen.
  public func isFrozen() throws(SystemError) -> Bool { try events().isFrozen }

  /// Returns whether any process is here or below.
  public func isPopulated() throws(SystemError) -> Bool { try events().isPopulated }

  /// Opens cgroup.events: poll(2) reports POLLPRI after each change since the last `events(of:)`.
  /// Read it once before the first poll.
  public func watchEvents() throws(SystemError) -> FileDescriptor {
    try FileDescriptor.open(reading: "\(path)/cgroup.events")
  }

  /// Reads a file descriptor of `watchEvents` from its start; nil if the group was removed.
  public static func events(of watch: Int32) throws(SystemError) -> Events? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = try check("pread cgroup.events", nilFor: ENODEV) {
      pread(watch, &bytes, bytes.count, 0)
    }
    return count.map { Events(parsing: Array(bytes[..<$0])) }
  }

  /// Returns the processes here and below without zombies; none if the group does not exist. 0 is a
  /// process that is not visible in this pid namespace.
  ///
  /// - Parameter recursively: false returns only the processes of this group itself.
  public func processes(recursively: Bool = true) throws(SystemError) -> [Int32] {
    var found: [Int32] = []
    try appendProcesses(to: &found, recursively: recursively)
    return found
  }

  /// Returns the CPU time that the processes here and below have used since the group was created,
  /// in microseconds. Needs no controller.
  public func cpuMicroseconds() throws(SystemError) -> UInt64 {
    guard let usage = FieldLines(try read("cpu.stat")).integer("usage_usec") else {
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
      // The group was removed meanwhile.
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

import Glibc

extension ControlGroup {
  /// What cgroup.events says.
  public struct Events: Hashable, Sendable {
    /// Whether there are living processes here or below.
    public var isPopulated: Bool
    /// Whether all processes here and below stand still. False on kernels before 5.2.
    public var isFrozen: Bool

    init(parsing bytes: [UInt8]) {
      let lines = FieldLines(bytes)
      isPopulated = lines.integer("populated") == 1
      isFrozen = lines.integer("frozen") == 1
    }
  }

  /// Moves a process here, with all its threads. Only for a process that cannot be another by now:
  /// our own unreaped child, or one whose identity is checked afterwards.
  ///
  /// Needs write permission in cgroup.procs here and in that of the nearest common ancestor.
  /// Errors: ESRCH, EACCES, EBUSY (a group that passes controllers on to children).
  public func add(_ pid: Int32) throws(SystemError) {
    try write("\(pid)", to: "cgroup.procs")
  }

  /// Asks that all processes here and below stand still; `events` tells when they do. Linux 5.2.
  /// Needs write permission in cgroup.freeze.
  public func freeze() throws(SystemError) { try write("1", to: "cgroup.freeze") }

  /// Lets them go on. A group stays frozen while one above it is.
  public func thaw() throws(SystemError) { try write("0", to: "cgroup.freeze") }

  /// SIGKILL to all processes here and below, forks in progress included. Linux 5.14. Needs write
  /// permission in cgroup.kill.
  public func kill() throws(SystemError) { try write("1", to: "cgroup.kill") }

  /// Whether this kernel and this group can freeze and we may do it.
  public var canFreeze: Bool { faccessat(AT_FDCWD, "\(path)/cgroup.freeze", W_OK, AT_EACCESS) == 0 }

  /// What cgroup.events says now.
  public func events() throws(SystemError) -> Events {
    Events(parsing: try read("cgroup.events"))
  }

  /// Whether its processes were asked to stand still, be it that they do not all yet; nil where the
  /// group is gone, or the kernel cannot freeze.
  public func isToBeFrozen() throws(SystemError) -> Bool? {
    do throws(SystemError) {
      return try read("cgroup.freeze").first == UInt8(ascii: "1")
    } catch {
      if [ENOENT, ENODEV].contains(error.errno) { return nil }
      throw error
    }
  }

  /// Whether every process below is frozen by now.
  public func isFrozen() throws(SystemError) -> Bool { try events().isFrozen }

  /// Whether any process is left below.
  public func isPopulated() throws(SystemError) -> Bool { try events().isPopulated }

  /// An open cgroup.events: poll(2) reports POLLPRI after each change since the last
  /// `events(of:)`. Read it once before the first poll.
  public func watchEvents() throws(SystemError) -> FileDescriptor {
    try FileDescriptor.open(reading: "\(path)/cgroup.events")
  }

  /// Reads a file descriptor of `watchEvents` anew; nil when the group has been removed.
  public static func events(of watch: Int32) throws(SystemError) -> Events? {
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = try check("pread cgroup.events", nilFor: ENODEV) {
      pread(watch, &bytes, bytes.count, 0)
    }
    return count.map { Events(parsing: Array(bytes[..<$0])) }
  }

  /// The processes here and below, zombies left out; none where the group is gone. 0 stands for a
  /// process that our process namespace cannot see.
  ///
  /// - Parameter recursively: false for those directly in this group only.
  public func processes(recursively: Bool = true) throws(SystemError) -> [Int32] {
    var found: [Int32] = []
    try appendProcesses(to: &found, recursively: recursively)
    return found
  }

  /// CPU time that the processes here and below have used since the group was made, in
  /// microseconds. Needs no controller.
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
      // Removed meanwhile.
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

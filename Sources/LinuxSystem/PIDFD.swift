import CLinux
import Glibc

/// A handle on a process. Unlike a pid, it never refers to another process.
///
/// poll(2) reports the descriptor as readable (POLLIN) when all threads have ended, and as hung up
/// (POLLHUP) when the process has been reaped.
public struct PIDFD: ~Copyable, Sendable {
  /// The process id in this namespace. After the process has ended, the kernel may reuse the id.
  public let pid: Int32
  private let descriptor: FileDescriptor

  /// The descriptor for poll(2), and for sending to another process.
  public var rawValue: Int32 { descriptor.rawValue }

  /// Whether a signal found its process.
  public enum Delivery: Hashable, Sendable {
    /// The process exists (perhaps as a zombie), and the kernel accepted the signal.
    case delivered
    /// The process has been reaped.
    case gone
  }

  private init(pid: Int32, descriptor: consuming FileDescriptor) {
    self.pid = pid
    self.descriptor = descriptor
  }

  /// Opens the process that has this pid now.
  ///
  /// The kernel may have reused the pid since the caller learned it. This cannot happen for an
  /// unreaped child of this process. For any other process, compare `identity` afterwards.
  ///
  /// - Returns: nil if there is no process (ESRCH), or if the id is that of a thread (EINVAL,
  ///   ENOENT).
  /// - Throws: EMFILE, ENOMEM.
  public static func open(_ pid: Int32) throws(SystemError) -> PIDFD? {
    guard pid > 0 else { return nil }
    let number = try check("pidfd_open", nilFor: ESRCH, EINVAL, ENOENT) {
      clinux_pidfd_open(pid, 0)
    }
    guard let number else { return nil }
    return PIDFD(pid: pid, descriptor: FileDescriptor(taking: number))
  }

  /// Adopts a descriptor from another program, if it is a pidfd of a process.
  ///
  /// Reads the pid from /proc/self/fdinfo, which only the kernel writes.
  ///
  /// - Throws: EINVAL if the descriptor is not a pidfd of a process, or if the process is not
  ///   visible in this pid namespace; ESRCH if the process has been reaped. After an error, the
  ///   descriptor is closed.
  public init(adopting received: consuming FileDescriptor) throws(SystemError) {
    let info = try FileDescriptor.open(reading: "/proc/self/fdinfo/\(received.rawValue)")
    let lines = KeyValueLines(try info.readToEnd())
    guard
      let pid = lines.integer("Pid"),
      let flags = lines.value("flags").flatMap({ UInt32($0, radix: 8) }),
      // PIDFD_THREAD (Linux 6.9) has the value of O_EXCL. It marks a handle on one thread.
      flags & UInt32(O_EXCL) == 0, pid != 0
    else { throw SystemError(call: "pidfd", errno: EINVAL) }
    guard pid > 0 else { throw SystemError(call: "pidfd", errno: ESRCH) }
    self.init(pid: Int32(pid), descriptor: received)
  }

  /// Adopts a pidfd of a process whose pid is known. The process may have been reaped.
  public init(restoring held: consuming FileDescriptor, pid: Int32) {
    self.init(pid: pid, descriptor: held)
  }

  /// Returns the descriptor and gives up its ownership.
  public consuming func take() -> FileDescriptor { descriptor }

  /// Returns another handle on the same process.
  public borrowing func duplicate() throws(SystemError) -> PIDFD {
    PIDFD(pid: pid, descriptor: try descriptor.duplicate())
  }

  /// Sends a signal: pidfd_send_signal(2). Signal 0 tests whether the process exists.
  ///
  /// - Throws: EPERM; EINVAL for a number that is not a signal; EAGAIN for a full queue.
  @discardableResult
  public borrowing func send(signal: Int32) throws(SystemError) -> Delivery {
    let number = rawValue
    let result = try check("pidfd_send_signal", nilFor: ESRCH) {
      clinux_pidfd_send_signal(number, signal)
    }
    return result == nil ? .gone : .delivered
  }

  /// Returns whether all threads of the process have ended, even if the process has not been reaped
  /// yet. Never blocks.
  public borrowing func hasEnded() throws(SystemError) -> Bool {
    try Readiness.wait(for: Int16(POLLIN), on: rawValue, timeout: .zero) != 0
  }

  /// Waits until all threads of the process have ended. Returns false if they have not ended within
  /// the timeout.
  public borrowing func waitForEnd(timeout: Duration? = nil) throws(SystemError) -> Bool {
    try Readiness.wait(for: Int16(POLLIN), on: rawValue, timeout: timeout) != 0
  }

  /// Returns the pid and the start time; nil if the process has been reaped.
  ///
  /// The result always belongs to the process that the pidfd refers to. No other process can get
  /// the pid before that process is reaped.
  public borrowing func identity(in proc: ProcFS) throws(SystemError) -> ProcessIdentity? {
    guard let stat = try proc.stat(pid) else { return nil }
    // If the process is still unreaped, no other process had its pid when /proc was read.
    guard try exists() else { return nil }
    return stat.identity
  }

  /// Returns whether the process has not been reaped. Needs no permission to signal the process.
  private borrowing func exists() throws(SystemError) -> Bool {
    let number = rawValue
    let result = attempt("pidfd_send_signal") { clinux_pidfd_send_signal(number, 0) }
    switch result {
    case .success: return true
    case .failure(let error):
      switch error.errno {
      case ESRCH: return false
      case EPERM: return true
      default: throw error
      }
    }
  }
}

extension PIDFD {
  /// Waits for a child of this process with waitid(P_PIDFD), and reaps it when it has ended.
  ///
  /// - Returns: nil with `.nonblocking` if nothing has changed.
  /// - Throws: ECHILD if the process is not a child of this process, or has already been reaped.
  public borrowing func wait(_ options: WaitOptions = []) throws(SystemError) -> ChildChange? {
    let number = rawValue
    var result = clinux_wait_result()
    try check("waitid") {
      clinux_wait_pidfd(number, options.rawValue | Int32(WEXITED), &result)
    }
    return ChildChange(result)
  }

  /// Returns how the process ended, if the kernel reports it. Never blocks.
  ///
  /// - The function reaps an ended child of this process.
  /// - For any other process, the kernel keeps the status with the pidfd after the process has been
  ///   reaped (PIDFD_GET_INFO with PIDFD_INFO_EXIT, Linux 6.15). Call the function when poll(2)
  ///   reports POLLHUP. While the process is a zombie, /proc/PID/stat contains the status, even on
  ///   older kernels. A caller that may trace the process (root, or the same user) can read the
  ///   status.
  ///
  /// - Returns: nil while the process runs, or if the kernel does not report the status.
  public borrowing func exitStatus(in proc: ProcFS) throws(SystemError) -> ProcessExit? {
    guard try hasEnded() else { return nil }
    do throws(SystemError) {
      switch try wait(.nonblocking) {
      case .ended(let status): return status
      case .stopped, .continued, nil: break
      }
    } catch {
      guard error.errno == ECHILD else { throw error }
    }
    if let recorded = try recordedExitStatus() { return recorded }
    if let status = try zombieExitStatus(in: proc) { return status }
    // The process may have been reaped between the two attempts.
    return try recordedExitStatus()
  }

  /// Returns whether this kernel keeps the exit status of a reaped process with the pidfd. To find
  /// out, the function starts a child that executes no program.
  public static func recordsExitStatus() throws(SystemError) -> Bool {
    let child = try HeldChild.spawn(
      SpawnRequest(path: "/", arguments: ["nothing"], environment: [String]()))
    let pidfd = try child.pidfd.duplicate()
    child.abandon()
    return try pidfd.recordedExitStatus() != nil
  }

  /// Returns the status that the kernel recorded when the process was reaped.
  private borrowing func recordedExitStatus() throws(SystemError) -> ProcessExit? {
    let number = rawValue
    var info = clinux_pidfd_info()
    info.mask = UInt64(CLINUX_PIDFD_INFO_EXIT)
    // ESRCH: the process was reaped, and the kernel records no status. ENOTTY, EINVAL: the kernel
    // lacks the ioctl.
    let result = try check("ioctl PIDFD_GET_INFO", nilFor: ESRCH, ENOTTY, EINVAL) {
      clinux_pidfd_get_info(number, &info)
    }
    guard result != nil, info.mask & UInt64(CLINUX_PIDFD_INFO_EXIT) != 0 else {
      return nil
    }
    return ProcessExit(waitStatus: info.exit_code)
  }

  private borrowing func zombieExitStatus(in proc: ProcFS) throws(SystemError) -> ProcessExit? {
    guard let stat = try proc.stat(pid), stat.state == .zombie, proc.mayTrace(pid),
      // If the process is still unreaped, no other process had its pid when /proc was read.
      try exists()
    else { return nil }
    return ProcessExit(waitStatus: stat.waitStatus)
  }
}

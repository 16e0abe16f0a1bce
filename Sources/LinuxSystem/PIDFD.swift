import CLinux
import Glibc

/// A handle on one process that no other process can ever take over, unlike its pid.
///
/// Its file descriptor polls as readable (POLLIN) from the moment when all threads have ended, and
/// hangs up (POLLHUP) when the process has been reaped as well.
public struct PIDFD: ~Copyable, Sendable {
  /// The process id in our namespace. Of a process that ended, it may be another's by now.
  public let pid: Int32
  private let descriptor: FileDescriptor

  /// For poll(2), and to hand over to another process.
  public var rawValue: Int32 { descriptor.rawValue }

  /// Whether a signal found its process.
  public enum Delivery: Hashable, Sendable {
    /// The process exists (perhaps as a zombie) and the signal is pending for it.
    case delivered
    /// The process has been reaped.
    case gone
  }

  private init(pid: Int32, descriptor: consuming FileDescriptor) {
    self.pid = pid
    self.descriptor = descriptor
  }

  /// The process that has this pid now.
  ///
  /// Unless it is our own unreaped child, that need not be the process that had it when the caller
  /// learned the number: compare `identity` afterwards.
  ///
  /// - Returns: nil where there is none (ESRCH), or the number is a thread's (EINVAL, ENOENT).
  /// - Throws: EMFILE, ENOMEM.
  public static func open(_ pid: Int32) throws(SystemError) -> PIDFD? {
    guard pid > 0 else { return nil }
    let number = try check("pidfd_open", nilFor: ESRCH, EINVAL, ENOENT) {
      clinux_pidfd_open(pid, 0)
    }
    guard let number else { return nil }
    return PIDFD(pid: pid, descriptor: FileDescriptor(taking: number))
  }

  /// A file descriptor that came from elsewhere, if it is a pidfd for a whole process.
  ///
  /// The pid is read from /proc/self/fdinfo, which only the kernel writes.
  ///
  /// - Throws: EINVAL where it is no such pidfd, or its process is in a namespace that we cannot
  ///   see; ESRCH where the process has been reaped. The file descriptor is closed then.
  public init(adopting received: consuming FileDescriptor) throws(SystemError) {
    let info = try FileDescriptor.open(reading: "/proc/self/fdinfo/\(received.rawValue)")
    let lines = FieldLines(try info.readToEnd())
    guard
      let pid = lines.integer("Pid"),
      let flags = lines.value("flags").flatMap({ UInt32($0, radix: 8) }),
      // PIDFD_THREAD (Linux 6.9) is O_EXCL: a handle on one thread.
      flags & UInt32(O_EXCL) == 0, pid != 0
    else { throw SystemError(call: "pidfd", errno: EINVAL) }
    guard pid > 0 else { throw SystemError(call: "pidfd", errno: ESRCH) }
    self.init(pid: Int32(pid), descriptor: received)
  }

  /// One that was held before, by whoever knows whose it is: its process may have been reaped.
  public init(restoring held: consuming FileDescriptor, pid: Int32) {
    self.init(pid: pid, descriptor: held)
  }

  /// Gives up ownership.
  public consuming func take() -> FileDescriptor { descriptor }

  /// Another handle on the same process.
  public borrowing func duplicate() throws(SystemError) -> PIDFD {
    PIDFD(pid: pid, descriptor: try descriptor.duplicate())
  }

  /// pidfd_send_signal(2). Signal 0 tests for existence.
  ///
  /// - Throws: EPERM, EINVAL for a number that is no signal, EAGAIN for a full queue.
  @discardableResult
  public borrowing func send(signal: Int32) throws(SystemError) -> Delivery {
    let number = rawValue
    let result = try check("pidfd_send_signal", nilFor: ESRCH) {
      clinux_pidfd_send_signal(number, signal)
    }
    return result == nil ? .gone : .delivered
  }

  /// Whether all its threads have ended, reaped or not. Never blocks.
  public borrowing func hasEnded() throws(SystemError) -> Bool {
    try Readiness.wait(for: Int16(POLLIN), on: rawValue, timeout: .zero) != 0
  }

  /// Waits until all its threads have ended; false when the time was up.
  public borrowing func waitForEnd(timeout: Duration? = nil) throws(SystemError) -> Bool {
    try Readiness.wait(for: Int16(POLLIN), on: rawValue, timeout: timeout) != 0
  }

  /// Its pid and start time; nil when it has been reaped.
  ///
  /// What was read belongs to this process: it was there before the pid could be another's.
  public borrowing func identity(in proc: ProcFS) throws(SystemError) -> ProcessIdentity? {
    guard let stat = try proc.stat(pid) else { return nil }
    // The pidfd names it still, so the pid was not free when /proc was read.
    guard try exists() else { return nil }
    return stat.identity
  }

  /// Whether it has not been reaped; that we may not signal it does not matter.
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
  /// Waits for our own child by waitid(P_PIDFD), and reaps it when it ended.
  ///
  /// - Returns: nil with `.nonblocking` where nothing has changed.
  /// - Throws: ECHILD where it is not our child or has been reaped.
  public borrowing func wait(_ options: WaitOptions = []) throws(SystemError) -> ChildChange? {
    let number = rawValue
    var result = clinux_wait_result()
    try check("waitid") {
      clinux_wait_pidfd(number, options.rawValue | Int32(WEXITED), &result)
    }
    return ChildChange(result)
  }

  /// How the process ended, as far as anybody can tell. Never blocks.
  ///
  /// - An ended child of ours is reaped.
  /// - Of another's, the kernel keeps the status with the pidfd once it was reaped (PIDFD_GET_INFO
  ///   with PIDFD_INFO_EXIT, Linux 6.15): ask at POLLHUP. Before that, while it is a zombie, and on
  ///   older kernels, /proc/PID/stat tells it to whoever could trace the process (root, or the same
  ///   user).
  ///
  /// - Returns: nil while it runs, and where it cannot be known (any more).
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
    // Reaped between the two.
    return try recordedExitStatus()
  }

  /// Whether this kernel keeps with a pidfd how its process ended, once that was reaped, also by
  /// others. Found out with a child that runs nothing.
  public static func recordsExitStatus() throws(SystemError) -> Bool {
    let child = try HeldChild.spawn(
      SpawnRequest(path: "/", arguments: ["nothing"], environment: [String]()))
    let pidfd = try child.pidfd.duplicate()
    child.abandon()
    return try pidfd.recordedExitStatus() != nil
  }

  /// What pidfs recorded when the process was reaped.
  private borrowing func recordedExitStatus() throws(SystemError) -> ProcessExit? {
    let number = rawValue
    var info = clinux_pidfd_info()
    info.mask = UInt64(CLINUX_PIDFD_INFO_EXIT)
    // ESRCH: reaped, on a kernel that records nothing. ENOTTY, EINVAL: no such ioctl.
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
      // The pid was not free meanwhile.
      try exists()
    else { return nil }
    return ProcessExit(waitStatus: stat.waitStatus)
  }
}

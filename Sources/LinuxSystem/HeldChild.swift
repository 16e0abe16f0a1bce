import CLinux
import Glibc

/// The reason why a child could not execute its program.
public struct SpawnError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The step between fork and exec that failed.
  public enum Step: Int32, Hashable, Sendable, CaseIterable {
    case signals = 1
    case stdio, closeOthers, session, processGroup, limit, groups, gid, uid, directory, execute

    var description: String {
      switch self {
      case .signals: "resetting the signals of"
      case .stdio: "setting up standard input and output of"
      case .closeOthers: "closing other file descriptors of"
      case .session: "setsid of"
      case .processGroup: "setpgid of"
      case .limit: "setting the limit on open files of"
      case .groups: "setgroups of"
      case .gid: "setresgid of"
      case .uid: "setresuid of"
      case .directory: "changing to the working directory"
      case .execute: "executing"
      }
    }
  }

  public let step: Step
  public let errno: Int32
  /// The path of the program, or the working directory if the child could not enter it.
  public let path: String

  public init(step: Step, errno: Int32, path: String) {
    self.step = step
    self.errno = errno
    self.path = path
  }

  /// A description such as `executing /usr/bin/nothing: No such file or directory (ENOENT)`.
  public var description: String {
    "\(step.description) \(path): \(SystemError.describe(errno))"
  }
}

/// The program to execute, and its user.
public struct SpawnRequest: Sendable {
  /// The user and group ids of the program. Changing them needs CAP_SETUID and CAP_SETGID.
  public struct Identity: Hashable, Sendable {
    public var uid: UInt32
    public var gid: UInt32
    /// All supplementary groups. They replace those of this process.
    public var groups: [UInt32]

    public init(uid: UInt32, gid: UInt32, groups: [UInt32]) {
      self.uid = uid
      self.gid = gid
      self.groups = groups
    }
  }

  /// The path of the program.
  public var path: String
  /// The arguments. The first is the program's name.
  public var arguments: [SystemString]
  /// Entries `KEY=value`. The program inherits no other entries.
  public var environment: [SystemString]
  /// The working directory; nil keeps the working directory of this process. The child enters the
  /// directory as the new user.
  public var directory: String?
  /// The user that the program runs as; nil keeps the user of this process.
  public var identity: Identity?
  /// Descriptors of this process for standard input, output and error; nil lets the child inherit
  /// the descriptor. The descriptors stay open in this process.
  public var stdio: (input: Int32?, output: Int32?, error: Int32?) = (nil, nil, nil)
  /// Whether the child leads a session and a process group of its own, without a terminal.
  public var newSession = false
  /// The process group to join. With 0, the child gets a group of its own; with nil, it stays in
  /// the group of this process, or of its new session.
  public var processGroup: Int32?
  /// The soft limit on open files; nil keeps the limit of this process.
  public var openFilesSoft: UInt64?

  public init(path: String, arguments: [String], environment: [String]) {
    self.init(
      path: path, arguments: arguments.map { SystemString($0) },
      environment: environment.map { SystemString($0) })
  }

  /// Creates a request with arguments and an environment that need not be UTF-8.
  public init(path: String, arguments: [SystemString], environment: [SystemString]) {
    precondition(!arguments.isEmpty, "the first argument must be the program's name")
    self.path = path
    self.arguments = arguments
    self.environment = environment
  }

  /// Finds a program as execvp(3) does. A name with a slash is a path. Any other name is searched
  /// for in each directory.
  ///
  /// - Parameter path: The directories, as in PATH; an empty entry stands for the working
  ///   directory.
  /// - Returns: nil if no directory has an executable file of that name.
  public static func searchPath(_ program: String, in path: String) -> String? {
    guard !program.isEmpty else { return nil }
    if program.utf8.contains(UInt8(ascii: "/")) { return program }
    for folder in path.split(separator: ":", omittingEmptySubsequences: false) {
      let candidate = folder.isEmpty ? "./\(program)" : "\(folder)/\(program)"
      var status = stat()
      guard stat(candidate, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        continue
      }
      if faccessat(AT_FDCWD, candidate, X_OK, AT_EACCESS) == 0 { return candidate }
    }
    return nil
  }
}

/// A child that has not executed its program yet. Before the program's first instruction, the
/// caller can move the child into a control group and pass its pidfd to another program.
///
/// In the child, all signals have their default action and are unblocked, and all descriptors
/// except 0, 1 and 2 are closed. If this process dies before the release, or the value is destroyed
/// without a release, the child exits. `abandon` ends the child and reaps it. After a release, the
/// owner of the pidfd must reap the child (`PIDFD.wait`).
public struct HeldChild: ~Copyable, Sendable {
  public let pid: Int32
  public let pidfd: PIDFD
  private let path: String
  private let directory: String?
  private let hold: FileDescriptor
  private let report: FileDescriptor

  /// Forks a child that waits before it executes the program. This process must not ignore SIGCHLD.
  ///
  /// - Throws: EAGAIN (limit on processes), ENOMEM, EMFILE, EINVAL for a NUL in a string.
  public static func spawn(_ request: SpawnRequest) throws(SystemError) -> HeldChild {
    precondition(
      !request.newSession || request.processGroup == nil,
      "the leader of a new session has a process group of its own already")
    guard request.hasNoNUL else { throw SystemError(call: "execve", errno: EINVAL) }
    // The hold uses a socket, because writing to a dead child's pipe would raise SIGPIPE.
    let (holdOurs, holdChild) = try UnixSocket.pair().ends()
    let hold = FileDescriptor(taking: holdOurs)
    let holdTheirs = FileDescriptor(taking: holdChild)
    let (reportReading, reportWriting) = try FileDescriptor.pipe().ends()
    let report = FileDescriptor(taking: reportReading)
    let reportTheirs = FileDescriptor(taking: reportWriting)

    let forked = request.withCStructure { spawn in
      var spawn = spawn
      spawn.hold_fd = holdTheirs.rawValue
      spawn.report_fd = reportTheirs.rawValue
      return attempt("fork") { clinux_spawn_held(&spawn) }
    }
    let pid = try forked.get()
    do throws(SystemError) {
      // The child has not been reaped, so no other process has its pid.
      guard let pidfd = try PIDFD.open(pid) else {
        throw SystemError(call: "pidfd_open", errno: ESRCH)
      }
      return HeldChild(
        pid: pid, pidfd: pidfd, path: request.path, directory: request.directory,
        hold: hold, report: report)
    } catch {
      _ = kill(pid, SIGKILL)
      _ = attempt("waitpid") { waitpid(pid, nil, 0) }
      throw error
    }
  }

  private init(
    pid: Int32, pidfd: consuming PIDFD, path: String, directory: String?,
    hold: consuming FileDescriptor, report: consuming FileDescriptor
  ) {
    self.pid = pid
    self.pidfd = pidfd
    self.path = path
    self.directory = directory
    self.hold = hold
    self.report = report
  }

  /// Releases the child and waits until its program runs.
  ///
  /// - Returns: The child's pidfd.
  /// - Throws: The reason why the system could not execute the program. The child has then ended
  ///   and been reaped. A child that was killed before the release is not an error; its pidfd
  ///   reports the end.
  public consuming func releaseAndWaitForExec() throws(SpawnError) -> PIDFD {
    var byte: UInt8 = 1
    let hold = hold.rawValue
    // A failure of the send needs no handling: if the child is already dead, the pidfd reports its
    // end.
    _ = attempt("send") { Glibc.send(hold, &byte, 1, Int32(MSG_NOSIGNAL)) }

    var failure = clinux_spawn_failure()
    let size = MemoryLayout<clinux_spawn_failure>.size
    let report = report.rawValue
    let result = attempt("read") { Glibc.read(report, &failure, size) }
    // The end of the file means that exec closed the pipe. The report of a failure arrives whole,
    // because the kernel does not split writes of this size.
    guard case .success(size) = result else { return pidfd }
    _ = attempt("waitid") { () -> Int32 in
      var ended = clinux_wait_result()
      return clinux_wait_pidfd(pidfd.rawValue, Int32(WEXITED), &ended)
    }
    guard let step = SpawnError.Step(rawValue: failure.step) else {
      preconditionFailure("the child reported the unknown step \(failure.step)")
    }
    let place = step == .directory ? directory ?? path : path
    throw SpawnError(step: step, errno: failure.code, path: place)
  }

  /// Ends the child before it executes its program, and reaps it.
  public consuming func abandon() {
    let number = pidfd.rawValue
    _ = attempt("pidfd_send_signal") { clinux_pidfd_send_signal(number, SIGKILL) }
    _ = attempt("waitid") { () -> Int32 in
      var ended = clinux_wait_result()
      return clinux_wait_pidfd(number, Int32(WEXITED), &ended)
    }
  }
}

extension SpawnRequest {
  fileprivate var hasNoNUL: Bool {
    let paths = [SystemString(path), SystemString(directory ?? "")]
    return (paths + arguments + environment).allSatisfy { !$0.bytes.contains(0) }
  }

  /// Passes the request to a closure as the C structure, without `hold_fd` and `report_fd`.
  fileprivate func withCStructure<Result>(_ body: (clinux_spawn) -> Result) -> Result {
    withCStrings(arguments) { argv in
      withCStrings(environment) { envp in
        withCStrings(([path] + (directory.map { [$0] } ?? [])).map { SystemString($0) }) { paths in
          (identity?.groups ?? []).withUnsafeBufferPointer { groups in
            var spawn = clinux_spawn()
            spawn.path = UnsafePointer(paths[0])
            spawn.directory = UnsafePointer(paths[1])
            spawn.argv = argv
            spawn.envp = envp
            spawn.stdio = (stdio.input ?? -1, stdio.output ?? -1, stdio.error ?? -1)
            spawn.new_session = newSession ? 1 : 0
            spawn.process_group = processGroup ?? -1
            if let identity {
              spawn.change_ids = 1
              spawn.uid = identity.uid
              spawn.gid = identity.gid
              spawn.groups = groups.baseAddress
              spawn.groups_count = groups.count
            }
            spawn.open_files_soft = openFilesSoft ?? 0
            return body(spawn)
          }
        }
      }
    }
  }
}

/// Passes the strings to a closure, as a NULL-terminated array of C strings.
func withCStrings<Result>(
  _ strings: [SystemString], _ body: (UnsafePointer<UnsafeMutablePointer<CChar>?>) -> Result
) -> Result {
  var pointers = strings.map { string in
    (string.bytes + [0]).withUnsafeBytes { strdup($0.bindMemory(to: CChar.self).baseAddress!) }
  }
  pointers.append(nil)
  defer { for pointer in pointers { free(pointer) } }
  return pointers.withUnsafeBufferPointer { body($0.baseAddress!) }
}

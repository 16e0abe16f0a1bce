import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// A mechanism that starts programs as services of the service manager that started the daemon. The
/// programs run outside the daemon's sandbox, each in a unit and a control group of its own.
///
/// The unit executes ``LaunchHelper``, which executes the program when the daemon sends the order.
final class TransientUnitStarter: ProgramStarter {
  let groups: InstanceGroups?
  private let proc: ProcFS
  private let loop: EventLoop
  private let manager: SystemdManager
  /// The slice for the units that the daemon launches. It contains no other units.
  private let slice: ControlGroup
  /// Whether each unit names the user that its program runs as.
  private let namesUsers: Bool
  /// The path of the daemon's executable, which each unit executes as ``LaunchHelper``.
  private let executable: String
  /// The source of programs' exit statuses; nil if the kernel reports them.
  let ends: UnitExits?
  private var starts: [InstanceID: TransientUnitStart] = [:]

  var starting: Set<String> { Set(starts.values.map(\.group.path)) }

  /// - Returns: nil if no service manager started the daemon as its service.
  init?(proc: ProcFS, loop: EventLoop, scope: ConfigurationPaths.Scope) throws(SystemError) {
    guard let own = try ControlGroup.own(in: proc),
      let manager = try SystemdManager(loop: loop, scope: scope),
      let executable = Self.ownExecutable()
    else { return nil }
    slice = InstanceUnits.slice(of: scope, besideUnit: own)
    groups = InstanceGroups(ofUnitsIn: slice)
    namesUsers = scope == .system
    self.executable = executable
    self.manager = manager
    // If the daemon cannot determine whether the kernel records the exit status, it relies on
    // systemd.
    let isRecorded = (try? PIDFD.recordsExitStatus()) ?? false
    ends = isRecorded ? nil : try UnitExits(manager: manager, loop: loop)
    self.proc = proc
    self.loop = loop
  }

  /// Returns the path of the daemon's executable. If an upgrade has replaced the file that this
  /// process executes, the path names the new file.
  private static func ownExecutable() -> String? {
    var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &bytes, bytes.count)
    guard count > 0 else { return nil }
    let path = String(decoding: bytes[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let deleted = " (deleted)"
    return path.hasSuffix(deleted) ? String(path.dropLast(deleted.count)) : path
  }

  func start(
    _ program: Program, as id: InstanceID, willRun: (Launcher.Launched) -> Void,
    _ finish: @escaping (Result<Launcher.Launched, Launcher.Failure>) -> Void
  ) {
    let name = InstanceUnits.newName(for: program.manifest.id, id)
    do throws(SystemError) {
      let start = try TransientUnitStart(program, in: slice.child(name), proc: proc, loop: loop) {
        [weak self] result in
        self?.starts[id] = nil
        if case .failure = result { self?.ends?.forget(name) }
        finish(result)
      }
      starts[id] = start
      ends?.follow(name)
      // `input` is closed when the daemon has sent the call. The manager then has the only copy.
      let input = try start.childsEnd()
      try manager.startTransient(name, properties(program, input: input.rawValue)) {
        [weak start] problem in
        if let problem { start?.fail("systemd does not start \(name): \(problem)") }
      }
    } catch {
      starts[id] = nil
      ends?.forget(name)
      finish(.failure(.init(reason: "could not ask systemd to start \(name): \(error)")))
    }
  }

  private func properties(_ program: Program, input: Int32) -> [UnitProperty] {
    let id = program.manifest.id.name
    var properties: [UnitProperty] = [
      .text("Description", "\(program.manifest.displayName ?? id), launched by taskschedd"),
      .text("Slice", slice.name),
      // At a shutdown, systemd must stop this unit after the daemon, because the daemon resumes the
      // applications when it stops. A suspended application would not handle SIGTERM.
      .texts("Before", ["taskschedd.service"]),
      .text("CollectMode", "inactive-or-failed"),
      .text("Type", "exec"),
      .command(executable, ["taskschedd", LaunchHelper.option]),
      .descriptor("StandardInputFileDescriptor", input),
      .text("StandardOutput", "journal"),
      .text("StandardError", "inherit"),
      .text("SyslogIdentifier", id),
      // SIGPIPE must have its default effect, as in a program that a shell starts.
      .flag("IgnoreSIGPIPE", false),
      // If the kernel kills one process of the application for lack of memory, systemd must not
      // kill the others.
      .text("OOMPolicy", "continue"),
    ]
    // For `systemctl stop`, systemd must use the same stop signal as the daemon.
    let stopSignal = program.manifest.stopSignal
    if stopSignal != .terminate { properties.append(.number("KillSignal", stopSignal.number)) }
    if namesUsers { properties.append(.text("User", "\(program.user.uid)")) }
    return properties
  }
}

/// The start of one program in a unit of its own, from the call to the manager until the program
/// runs.
private final class TransientUnitStart {
  /// The time limit of a start. systemd may have to wait for other units, and the program's file
  /// and directory may be on a slow file system.
  private static let timeout: Duration = .seconds(30)

  let group: ControlGroup
  private let program: Program
  private let proc: ProcFS
  private let loop: EventLoop
  private let finish: (Result<Launcher.Launched, Launcher.Failure>) -> Void
  /// The daemon's end of the socket to the waiting process. No other process has a copy. If the
  /// daemon dies, the connection therefore closes, and the waiting process exits.
  private let hold: FileDescriptor
  private var childs: FileDescriptor?
  private var holdSource: DescriptorSource?
  private var report: ExecPipe?
  private var timer: TimerSource?
  private var process: ProcessHandle?
  /// The reason why the system cannot execute the program.
  private var failure: LaunchHelper.Failure?
  private var hasEnded = false

  /// The daemon's end of the pipe from the waiting process. Exec closes the other end.
  private final class ExecPipe {
    let reading: FileDescriptor
    var source: DescriptorSource?

    init(_ reading: consuming FileDescriptor) {
      self.reading = reading
    }

    deinit {
      // The source must be removed before its descriptor is closed.
      source = nil
    }
  }

  init(
    _ program: Program, in group: ControlGroup, proc: ProcFS, loop: EventLoop,
    finish: @escaping (Result<Launcher.Launched, Launcher.Failure>) -> Void
  ) throws(SystemError) {
    self.program = program
    self.group = group
    self.proc = proc
    self.loop = loop
    self.finish = finish
    let (ours, theirs) = try UnixSocket.pair().ends()
    hold = FileDescriptor(taking: ours)
    childs = FileDescriptor(taking: theirs)
    try hold.setNonblocking(true)
    timer = try loop.timer { [weak self] in
      self?.fail("systemd did not start the unit within \(TimeSpan.format(Self.timeout))")
    }
    timer?.set(BootClock.after(Self.timeout))
    holdSource = try loop.watch(ours, for: .input) { [weak self] _ in self?.held() }
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    holdSource = nil
  }

  /// Returns the standard input of the unit.
  func childsEnd() throws(SystemError) -> FileDescriptor {
    guard let end = childs.take() else {
      throw SystemError(call: "socketpair", errno: EBADF)
    }
    return end
  }

  /// Handles the byte that the waiting process sends, or a socket that is closed without a byte.
  private func held() {
    do throws(SystemError) {
      var byte: UInt8 = 0
      let count = try withUnsafeMutableBytes(of: &byte) { bytes throws(SystemError) in
        try hold.read(into: bytes)
      }
      guard let count else { return }
      if count > 0 { return try release(try theOnlyProcess()) }
      fail("systemd could not start the unit: `journalctl -u '\(group.name)'` shows the reason")
    } catch {
      fail(String(describing: error))
    }
  }

  /// Returns the process of ``LaunchHelper``. It is the only process in the unit's control group,
  /// because only systemd adds processes to this group.
  private func theOnlyProcess() throws(SystemError) -> ProcessHandle {
    let call = "looking for the process of \(group.name)"
    let pids = try group.processes()
    guard pids.count == 1, let pidfd = try PIDFD.open(pids[0]) else {
      throw SystemError(call: call, errno: ESRCH)
    }
    let pid = pidfd.pid
    let process = try ProcessHandle(pidfd, in: proc)
    // Another process may have reused the pid. The process of the pidfd must be in the group.
    guard try ControlGroup.of(pid, in: proc) == group,
      try process.pidfd.identity(in: proc) == process.identity
    else { throw SystemError(call: call, errno: ESRCH) }
    return process
  }

  /// Sends the order to the waiting process, of which the daemon has now opened a pidfd.
  private func release(_ process: ProcessHandle) throws(SystemError) {
    self.process = process
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let report = ExecPipe(FileDescriptor(taking: reading))
    let theirReport = FileDescriptor(taking: writing)
    let manifest = program.manifest
    let order = try LaunchHelper.Order(
      directory: program.directory,
      searchPath: manifest.environment["PATH"] ?? Program.searchPath,
      arguments: manifest.command.map { SystemString($0) },
      environment: program.environment.map { SystemString($0) }
    ).file()
    try report.reading.setNonblocking(true)
    report.source = try loop.watch(reading, for: .input) { [weak self] _ in self?.reported() }
    // Exec closes the pipe before the program's first instruction, so the pipe is ready before any
    // message of the program. The daemon must handle the pipe first.
    report.source?.setImportantPriority()
    self.report = report
    try LaunchHelper.release(hold.rawValue, order: order.rawValue, report: theirReport.rawValue)
    holdSource = nil
  }

  /// Handles the failure that the process reports before it exits, or the closed pipe. Exec and the
  /// exit both close the pipe.
  private func reported() {
    guard let report, let process else { return }
    var told = LaunchHelper.Failure()
    do throws(SystemError) {
      let count = try withUnsafeMutableBytes(of: &told) { bytes throws(SystemError) in
        try report.reading.read(into: bytes)
      }
      guard let count else { return }
      if count > 0 { return failure = told }
      if let failure { return fail(program.reason(failure)) }
      end(
        .success(
          .init(process: process, uid: program.user.uid, origin: program.origin(in: group))))
    } catch {
      fail(String(describing: error))
    }
  }

  /// Ends the start with a failure. Kills the processes of the unit, because no daemon would manage
  /// them.
  func fail(_ reason: String) {
    guard !hasEnded else { return }
    if group.exists { try? group.kill() }
    end(.failure(.init(reason: reason)))
  }

  private func end(_ result: Result<Launcher.Launched, Launcher.Failure>) {
    guard !hasEnded else { return }
    hasEnded = true
    timer = nil
    report = nil
    finish(result)
  }
}

extension Program {
  /// Returns the reason why the program does not run.
  fileprivate func reason(_ failure: LaunchHelper.Failure) -> String {
    switch LaunchHelper.Failure.Step(rawValue: failure.step) {
    case .directory:
      SpawnError(step: .directory, errno: failure.code, path: directory).description
    case .search: notFound.reason
    case .execute, nil:
      SpawnError(step: .execute, errno: failure.code, path: manifest.command[0]).description
    }
  }
}

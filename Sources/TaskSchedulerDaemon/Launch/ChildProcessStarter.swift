import CSystemd
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// A mechanism that starts programs as children of the daemon. Each child has a session of its own,
/// and a control group of its own if systemd has delegated the daemon's group. Children inherit the
/// daemon's restrictions.
struct ChildProcessStarter: ProgramStarter {
  private let proc: ProcFS
  private let openFilesSoft: UInt64
  let groups: InstanceGroups?
  let starting: Set<String> = []

  /// - Parameter openFilesSoft: The soft limit on the open files of a started program. The daemon's
  ///   own limit may be higher, because the daemon raises it.
  init(proc: ProcFS, openFilesSoft: UInt64) {
    self.proc = proc
    self.openFilesSoft = openFilesSoft
    let own = (try? ControlGroup.own(in: proc)) ?? nil
    groups = own.flatMap { InstanceGroups(below: $0) }
  }

  func start(
    _ program: Program, as id: InstanceID, willRun: (Launcher.Launched) -> Void,
    _ finish: @escaping (Result<Launcher.Launched, Launcher.Failure>) -> Void
  ) {
    do {
      finish(.success(try start(program, as: id, willRun: willRun)))
    } catch let error as Launcher.Failure {
      finish(.failure(error))
    } catch {
      finish(.failure(.init(reason: String(describing: error))))
    }
  }

  private func start(
    _ program: Program, as id: InstanceID, willRun: (Launcher.Launched) -> Void
  ) throws -> Launcher.Launched {
    guard let path = program.manifest.executable(searchPath: Program.searchPath) else {
      throw program.notFound
    }
    var request = SpawnRequest(
      path: path, arguments: program.manifest.command, environment: program.environment)
    request.directory = program.directory
    let user = program.user
    if user.uid != geteuid() {
      request.identity = .init(uid: user.uid, gid: user.gid, groups: Users.groups(of: user))
    }
    request.newSession = true
    request.openFilesSoft = openFilesSoft
    let input = try FileDescriptor.open(reading: "/dev/null")
    let output = try Self.output(of: program.manifest.id)
    request.stdio = (input.rawValue, output.rawValue, output.rawValue)
    return try run(try HeldChild.spawn(request), program, instance: id, willRun: willRun)
  }

  private func run(
    _ child: consuming HeldChild, _ program: Program, instance id: InstanceID,
    willRun: (Launcher.Launched) -> Void
  ) throws -> Launcher.Launched {
    var group: ControlGroup?
    let process: ProcessHandle
    do {
      group = try placed(child.pid, program.manifest.id, id)
      // The daemon opens the pidfd before the program runs. Without the pidfd, it could not suspend
      // or kill the program.
      process = try ProcessHandle(child.pidfd.duplicate(), in: proc)
    } catch {
      child.abandon()
      try? group?.remove()
      throw error
    }
    let launched = Launcher.Launched(
      process: process, uid: program.user.uid, origin: program.origin(in: group))
    willRun(launched)
    do {
      _ = try child.releaseAndWaitForExec()
      return launched
    } catch {
      try? group?.remove()
      throw error
    }
  }

  /// Moves a child to a control group of its own before the child executes its program. Returns nil
  /// if the daemon must not create control groups.
  private func placed(
    _ pid: Int32, _ application: ApplicationID, _ id: InstanceID
  ) throws(SystemError) -> ControlGroup? {
    guard let own = try groups?.make(for: application, id) else { return nil }
    do throws(SystemError) {
      try own.add(pid)
    } catch {
      try? own.remove()
      throw error
    }
    return own
  }

  /// Opens the output of a program: the journal, with the application's id as the identifier.
  /// Without a journal, the program writes to the daemon's standard error.
  private static func output(of id: ApplicationID) throws(SystemError) -> FileDescriptor {
    let descriptor = sd_journal_stream_fd(id.name, LOG_INFO, 1)
    if descriptor >= 0 { return FileDescriptor(taking: descriptor) }
    return try FileDescriptor.duplicate(of: STDERR_FILENO)
  }
}

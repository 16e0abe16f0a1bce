import CSystemd
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Starts what manifests name (contract §8): in a control group of its own where the daemon's is
/// delegated to it, in a session of its own everywhere.
final class Launcher {
  /// A program that runs.
  struct Launched {
    var process: ProcessHandle
    var uid: UInt32
    var origin: InstanceProcesses.Origin
  }

  /// Which step failed, and why.
  struct Failure: Error {
    var reason: String
  }

  /// Where the daemon looks for programs that a manifest names without a folder.
  static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

  private let proc: ProcFS
  private let socketPath: String
  private let openFilesSoft: UInt64
  /// Where the instances' control groups are made; nil where we may not.
  let groups: InstanceGroups?

  init(proc: ProcFS, socketPath: String, openFilesSoft: UInt64) {
    self.proc = proc
    self.socketPath = socketPath
    self.openFilesSoft = openFilesSoft
    let own = (try? ControlGroup.own(in: proc)) ?? nil
    groups = own.flatMap { InstanceGroups(below: $0) }
  }

  func launch(
    _ manifest: ApplicationManifest, as id: InstanceID, reason: LaunchReason
  ) throws(Failure) -> Launched {
    let user = try user(of: manifest)
    guard let path = manifest.executable(searchPath: Self.searchPath) else {
      throw Failure(
        reason: "\(manifest.file): command: no program '\(manifest.command[0])' in PATH")
    }
    let marker = Self.newMarker()
    var request = SpawnRequest(
      path: path, arguments: manifest.command,
      environment: environment(manifest, user, marker: marker, reason: reason))
    request.directory = manifest.workingDirectory ?? user.home
    if user.uid != geteuid() {
      request.identity = .init(uid: user.uid, gid: user.gid, groups: Users.groups(of: user))
    }
    request.newSession = true
    request.openFilesSoft = openFilesSoft
    do {
      let input = try FileDescriptor.open(reading: "/dev/null")
      let output = try Self.output(of: manifest.id)
      request.stdio = (input.rawValue, output.rawValue, output.rawValue)
      let child = try HeldChild.spawn(request)
      return try start(child, manifest, user, marker: marker, instance: id)
    } catch let error as Failure {
      throw error
    } catch {
      throw Failure(reason: String(describing: error))
    }
  }

  private func start(
    _ child: consuming HeldChild, _ manifest: ApplicationManifest, _ user: User, marker: String,
    instance id: InstanceID
  ) throws -> Launched {
    var origin = InstanceProcesses.Origin(
      marker: marker, mechanism: manifest.suspendMechanism, isLaunched: true)
    let process: ProcessHandle
    do {
      origin.group = try placed(child.pid, manifest.id, id)
      // Before it runs: a program that nobody holds could be neither suspended nor ended.
      process = try ProcessHandle(child.pidfd.duplicate(), in: proc)
    } catch {
      child.abandon()
      try? origin.group?.remove()
      throw error
    }
    do {
      _ = try child.releaseAndWaitForExec()
      return Launched(process: process, uid: user.uid, origin: origin)
    } catch {
      try? origin.group?.remove()
      throw error
    }
  }

  /// Moves a child that has not run yet to a control group of its own.
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

  private func user(of manifest: ApplicationManifest) throws(Failure) -> User {
    let uid = manifest.account?.uid ?? geteuid()
    let found: User?
    do throws(SystemError) {
      found = try Users.user(uid: uid)
    } catch {
      throw Failure(reason: "looking up the user \(uid): \(error)")
    }
    guard let user = found else {
      throw Failure(reason: "\(manifest.file): user: there is no user with uid \(uid)")
    }
    guard uid == geteuid() || geteuid() == 0 else {
      throw Failure(reason: "\(manifest.file): user: only root starts programs as \(user.name)")
    }
    return user
  }

  private func environment(
    _ manifest: ApplicationManifest, _ user: User, marker: String, reason: LaunchReason
  ) -> [String] {
    var values = [
      "PATH": Self.searchPath, "HOME": user.home, "USER": user.name, "LOGNAME": user.name,
      "SHELL": user.shell,
    ]
    // A user's own daemon hands on its session: where the bus, the display and the locale are.
    let inherited =
      geteuid() == 0
      ? ["LANG", "LC_ALL"]
      : [
        "PATH", "LANG", "LC_ALL", "DISPLAY", "WAYLAND_DISPLAY", "XDG_RUNTIME_DIR",
        "DBUS_SESSION_BUS_ADDRESS", "XDG_SESSION_TYPE", "XDG_CURRENT_DESKTOP",
      ]
    for name in inherited {
      if let value = getenv(name) { values[name] = String(cString: value) }
    }
    values.merge(manifest.environment) { _, manifest in manifest }
    values["TASKSCHEDD_APPLICATION"] = manifest.id.name
    values["TASKSCHEDD_LAUNCH_REASON"] = reason.rawValue
    values["TASKSCHEDD_SOCKET"] = socketPath
    values[Membership.markerName] = marker
    return values.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
  }

  /// Where a program's output goes: to the journal, under the application's name; where there is no
  /// journal, where the daemon's own goes.
  private static func output(of id: ApplicationID) throws(SystemError) -> FileDescriptor {
    let descriptor = sd_journal_stream_fd(id.name, LOG_INFO, 1)
    if descriptor >= 0 { return FileDescriptor(taking: descriptor) }
    return try FileDescriptor.duplicate(of: STDERR_FILENO)
  }

  /// 128 random bits, by which descendants are known for the instance's.
  private static func newMarker() -> String {
    var generator = SystemRandomNumberGenerator()
    let halves = [generator.next(), generator.next()] as [UInt64]
    return halves.map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

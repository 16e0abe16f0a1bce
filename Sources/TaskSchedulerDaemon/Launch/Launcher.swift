import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Starts the programs of manifests (contract §8), as services or as children of the daemon,
/// according to the setting `launch-mechanism` (``LaunchMechanism``).
final class Launcher {
  /// A running program.
  struct Launched {
    var process: ProcessHandle
    var uid: UInt32
    var origin: InstanceProcesses.Origin
  }

  /// The reason why the daemon could not start a program.
  struct Failure: Error {
    var reason: String
  }

  private let socketPath: String
  private let starter: any ProgramStarter
  /// Whether `launch-mechanism` requires units, but no service manager can start them.
  private let lacksManager: Bool
  /// The source of programs' exit statuses, if only systemd knows them; otherwise nil.
  let ends: UnitExits?

  /// The control groups of the instances; nil if they have none.
  var groups: InstanceGroups? { starter.groups }
  /// The paths of the control groups in which the daemon is starting programs.
  var starting: Set<String> { starter.starting }

  /// - Parameter openFilesSoft: The soft limit on the open files of a child program. The daemon's
  ///   own limit may be higher, because the daemon raises it.
  init(
    proc: ProcFS, loop: EventLoop, socketPath: String, scope: ConfigurationPaths.Scope,
    mechanism: LaunchMechanism, openFilesSoft: UInt64
  ) throws(SystemError) {
    self.socketPath = socketPath
    let units =
      mechanism == .child ? nil : try TransientUnitStarter(proc: proc, loop: loop, scope: scope)
    ends = units?.ends
    starter = units ?? ChildProcessStarter(proc: proc, openFilesSoft: openFilesSoft)
    lacksManager = mechanism == .unit && units == nil
  }

  /// Starts the program of a manifest.
  ///
  /// - Parameters:
  ///   - region: The region that the machine has entered or left, if this caused the launch.
  ///   - willRun: Called before the program runs; see ``ProgramStarter``.
  ///   - finish: Called once, when the program runs or cannot run, possibly before this function
  ///     returns.
  func launch(
    _ manifest: ApplicationManifest, as id: InstanceID, reason: LaunchReason, region: RegionID?,
    willRun: (Launched) -> Void, _ finish: @escaping (Result<Launched, Failure>) -> Void
  ) {
    let program: Program
    do throws(Failure) {
      if lacksManager {
        throw Failure(
          reason: "launch-mechanism is unit, but systemd did not start the daemon as a service")
      }
      let user = try user(of: manifest)
      let marker = Self.newMarker()
      program = Program(
        manifest: manifest, user: user,
        environment: environment(
          manifest, user, marker: marker, reason: reason, region: region), marker: marker)
    } catch {
      return finish(.failure(error))
    }
    starter.start(program, as: id, willRun: willRun, finish)
  }

  private func user(of manifest: ApplicationManifest) throws(Failure) -> User {
    let uid = manifest.account?.uid ?? geteuid()
    let found: User?
    do throws(SystemError) {
      found = try Users.user(uid: uid)
    } catch {
      throw Failure(reason: "could not look up the user \(uid): \(error)")
    }
    guard let user = found else {
      throw Failure(reason: "\(manifest.file): user: there is no user with uid \(uid)")
    }
    guard uid == geteuid() || geteuid() == 0 else {
      throw Failure(reason: "\(manifest.file): user: only root may start programs as \(user.name)")
    }
    return user
  }

  private func environment(
    _ manifest: ApplicationManifest, _ user: User, marker: String, reason: LaunchReason,
    region: RegionID?
  ) -> [String] {
    var values = [
      "PATH": Program.searchPath, "HOME": user.home, "USER": user.name, "LOGNAME": user.name,
      "SHELL": user.shell,
    ]
    // A program that a user's own daemon launches inherits the daemon's session environment: bus,
    // display and locale.
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
    values[EarlierLaunches.applicationName] = manifest.id.name
    values[EarlierLaunches.reasonName] = reason.rawValue
    values[EarlierLaunches.regionName] = region?.name
    values[EnvironmentMarkers.socketName] = socketPath
    values[InstanceMembership.markerName] = marker
    return values.sortedByKey.map { "\($0.key)=\($0.value)" }
  }

  /// Returns 128 random bits as hexadecimal digits. In the environment of a process, they identify
  /// the instance to which the process belongs.
  private static func newMarker() -> String {
    var generator = SystemRandomNumberGenerator()
    let halves = [generator.next(), generator.next()] as [UInt64]
    return halves.map { half in
      let digits = String(half, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }.joined()
  }
}

import LinuxSystem
import TaskSchedulerCore

/// A program to start: its manifest, and the properties that the daemon adds.
struct Program {
  var manifest: ApplicationManifest
  /// The user that the program runs as.
  var user: User
  /// The complete environment, as entries `KEY=value`.
  var environment: [String]
  /// The value of TASKSCHEDD_INSTANCE in the environment.
  var marker: String

  /// The default PATH of programs. If a manifest names its program without a directory and sets no
  /// PATH, the daemon searches these directories for the program.
  static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

  var directory: String { manifest.workingDirectory ?? user.home }

  /// Returns the origin of the instance's processes: their control group, their marker and how the
  /// daemon suspends them.
  func origin(in group: ControlGroup?) -> InstanceProcesses.Origin {
    InstanceProcesses.Origin(
      group: group, marker: marker, mechanism: manifest.suspendMechanism, isLaunched: true)
  }

  /// The failure if no directory of PATH contains the program.
  var notFound: Launcher.Failure {
    .init(reason: "\(manifest.file): command: no program '\(manifest.command[0])' in PATH")
  }
}

/// A mechanism that starts programs.
protocol ProgramStarter {
  /// The control groups of the started programs; nil if they have none of their own.
  var groups: InstanceGroups? { get }

  /// The paths of the control groups in which this mechanism is starting programs.
  var starting: Set<String> { get }

  /// Starts a program. The program executes no instruction before the daemon has opened a pidfd of
  /// its process.
  ///
  /// - Parameters:
  ///   - willRun: Called before the first instruction, so that the caller can store the process.
  ///     Not called for a program in a unit: the next daemon finds the process by the unit's
  ///     control group.
  ///   - finish: Called once, when the program runs or cannot run, possibly before this function
  ///     returns.
  func start(
    _ program: Program, as id: InstanceID, willRun: (Launcher.Launched) -> Void,
    _ finish: @escaping (Result<Launcher.Launched, Launcher.Failure>) -> Void)
}

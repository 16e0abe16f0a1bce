import LinuxSystem
import TaskSchedulerCore

/// A program to start: its manifest, and what the daemon adds.
struct Program {
  var manifest: ApplicationManifest
  /// The user that it runs as.
  var user: User
  /// All of it, entries `KEY=value`.
  var environment: [String]
  /// The value of TASKSCHEDD_INSTANCE in it.
  var marker: String

  /// The directories in which to find a program that a manifest names without a directory.
  static let searchPath = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

  var directory: String { manifest.workingDirectory ?? user.home }

  /// What is known of its processes once it runs.
  func origin(in group: ControlGroup?) -> InstanceProcesses.Origin {
    InstanceProcesses.Origin(
      group: group, marker: marker, mechanism: manifest.suspendMechanism, isLaunched: true)
  }

  /// The failure if no directory of PATH contains the program.
  var notFound: Launcher.Failure {
    .init(reason: "\(manifest.file): command: no program '\(manifest.command[0])' in PATH")
  }
}

/// A way of starting programs.
protocol Starter {
  /// The groups of what it starts; nil where programs have none of their own.
  var groups: InstanceGroups? { get }

  /// The paths of the groups of programs that are being started.
  var starting: Set<String> { get }

  /// Starts a program that does not run one instruction before the daemon holds its process.
  ///
  /// - Parameters:
  ///   - willRun: called before that first instruction, where nothing but the daemon's memory tells
  ///     the next one of the process (of a unit, its control group does).
  ///   - finish: called once, when it runs or cannot; perhaps before this returns.
  func start(
    _ program: Program, as id: InstanceID, willRun: (Launcher.Launched) -> Void,
    _ finish: @escaping (Result<Launcher.Launched, Launcher.Failure>) -> Void)
}

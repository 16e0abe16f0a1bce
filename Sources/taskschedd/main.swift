import ArgumentParser
import Glibc
import TaskSchedulerDaemon

struct Arguments: ParsableArguments {
  @Flag(help: "Serve the user who starts it, at $XDG_RUNTIME_DIR/taskschedd/socket.")
  var user = false

  @Option(help: "Read FILE and FILE.d/*.toml in place of the standard settings.")
  var config: String?

  @Option(
    name: .customLong("manifests"),
    help: "Read manifests from DIR in place of the standard folders (may be repeated).")
  var manifestFolders: [String] = []

  @Option(help: "Listen at PATH, where systemd hands no socket over.")
  var socket: String?

  @Option(help: "Where to log: auto (the journal where systemd started it), journal, stderr.")
  var logTarget: String = Log.Target.auto.rawValue

  @Flag(help: "Report every mistake in the settings and manifests, and end: 0 where there is none.")
  var check = false

  @Flag(help: "Show the version.")
  var version = false
}

/// Exit codes: 0 done, and these.
enum ExitStatus {
  /// The system refused something.
  static let failed: Int32 = 1
  /// Wrong arguments.
  static let usage: Int32 = 2
  /// Mistakes in the configuration: EX_CONFIG of sysexits(3), which systemd knows by name.
  static let configuration: Int32 = 78
}

func write(_ text: String, to descriptor: Int32) {
  var text = text
  text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
}

func complain(_ text: String) {
  write("taskschedd: \(text)\n", to: STDERR_FILENO)
}

func parse() -> Arguments {
  do {
    return try Arguments.parse()
  } catch {
    let isHelp = Arguments.exitCode(for: error) == .success
    let text = Arguments.fullMessage(for: error) + "\n"
    write(text, to: isHelp ? STDOUT_FILENO : STDERR_FILENO)
    exit(isHelp ? 0 : ExitStatus.usage)
  }
}

func environment() -> [String: String] {
  ["HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_RUNTIME_DIR"].reduce(into: [:]) {
    if let value = getenv($1) { $0[$1] = String(cString: value) }
  }
}

/// Makes the socket's folder, where systemd has not.
func socketPath(_ arguments: Arguments) -> String {
  if let path = arguments.socket { return path }
  var folder = "/run/taskschedd"
  if arguments.user {
    guard let runtime = environment()["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") else {
      complain("--user needs XDG_RUNTIME_DIR, the folder in which the socket is made")
      exit(ExitStatus.failed)
    }
    folder = runtime + "/taskschedd"
  }
  if mkdir(folder, arguments.user ? 0o700 : 0o755) != 0, errno != EEXIST {
    complain("cannot make the socket's folder \(folder): \(String(cString: strerror(errno)))")
    exit(ExitStatus.failed)
  }
  return folder + "/socket"
}

let arguments = parse()
if arguments.version {
  print("taskschedd \(Daemon.version)")
  exit(0)
}
guard let target = Log.Target(rawValue: arguments.logTarget) else {
  complain("--log-target: '\(arguments.logTarget)' is none of auto, journal, stderr")
  exit(ExitStatus.usage)
}
var paths: ConfigurationPaths =
  arguments.user
  ? .user(uid: getuid(), environment: environment(), explicitFile: arguments.config)
  : .system(explicitFile: arguments.config, trustedOwners: [0, getuid()])
if !arguments.manifestFolders.isEmpty { paths.manifestFolders = arguments.manifestFolders }

if arguments.check {
  let (configuration, problems) = Configuration.load(from: paths)
  for problem in problems { write("\(problem)\n", to: STDERR_FILENO) }
  if problems.isEmpty { print("no mistakes; \(configuration.manifests.count) manifests") }
  exit(problems.isEmpty ? 0 : ExitStatus.configuration)
}

do {
  try Daemon(
    Daemon.Arguments(paths: paths, socketPath: socketPath(arguments), logTarget: target)
  ).run()
} catch StartFailure.configuration {
  complain("not started: the configuration has the mistakes above")
  exit(ExitStatus.configuration)
} catch {
  complain(String(describing: error))
  exit(ExitStatus.failed)
}

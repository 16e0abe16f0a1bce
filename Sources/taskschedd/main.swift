import ArgumentParser
import Glibc
import TaskSchedulerDaemon

struct Arguments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "taskschedd",
    abstract: "Manage the foreground, background and suspended state of applications.",
    discussion: """
      Serves applications and operators on a Unix socket until SIGTERM or SIGINT, and then resumes \
      all suspended applications. SIGHUP reloads the settings and manifests; if a file contains an \
      error, nothing changes. systemd starts the daemon from taskschedd.service; taskctl operates \
      it. While systemd restarts the service (systemctl restart), suspended applications stay \
      suspended.

      Exit codes: 0 success; 1 the operating system refused a request; 2 invalid command line; \
      75 stopped for a restart by systemd; 78 invalid settings or manifests, with a message for \
      each problem.
      """,
    version: "taskschedd \(Daemon.version)")

  @Flag(help: "Run for the current user, with the socket $XDG_RUNTIME_DIR/taskschedd/socket.")
  var user = false

  @Option(
    help: ArgumentHelp(
      "Read FILE and FILE.d/*.toml instead of the standard settings.", valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var config: String?

  @Option(
    name: .customLong("manifests"),
    help: ArgumentHelp(
      "Read manifests from DIR instead of the standard directories (may be repeated).",
      valueName: "dir"), completion: .directory)
  var manifestDirectories: [String] = []

  @Option(
    help: ArgumentHelp("Listen on PATH, unless systemd passes a socket.", valueName: "path"),
    completion: .file())
  var socket: String?

  @Option(
    help: ArgumentHelp(
      "Keep the event log in DIR instead of the directory 'event-log' beside the socket.",
      valueName: "dir"), completion: .directory)
  var eventLog: String?

  @Option(
    help: ArgumentHelp(
      "Keep data that outlives a boot (notifications, regions) in DIR. Default: $STATE_DIRECTORY, "
        + "else /var/lib/taskschedd or, with --user, $XDG_STATE_HOME/taskschedd.",
      valueName: "dir"),
    completion: .directory)
  var state: String?

  @Option(
    help: ArgumentHelp(
      "Read the machine's memory from FILE instead of /proc/meminfo.", valueName: "file",
      visibility: .hidden))
  var memInfo = "/proc/meminfo"

  @Option(
    help: ArgumentHelp(
      "Monitor memory pressure in FILE (a control group's memory.pressure) instead of "
        + "/proc/pressure/memory.", valueName: "file", visibility: .hidden))
  var memoryPressure = "/proc/pressure/memory"

  @Option(
    help: ArgumentHelp(
      "Use the message bus at ADDRESS instead of the system's.", valueName: "address",
      visibility: .hidden))
  var systemBus: String?

  @Flag(help: "Keep no event log, to measure its cost; a crash then loses all state.")
  var noEventLog = false

  @Option(help: "Log to journal or stderr; auto chooses the journal if stderr leads to it.")
  var logTarget: Log.Target = .auto

  @Flag(help: "Report every problem in the settings and manifests, and exit.")
  var check = false

  func validate() throws {
    let paths = [
      ("socket", socket), ("event-log", eventLog), ("state", state), ("config", config),
    ]
    for (name, path) in paths where path == "" {
      throw ValidationError("--\(name) is empty; give a path, or omit the option for the default")
    }
  }
}

extension Log.Target: ExpressibleByArgument {}

/// The exit codes other than 0.
enum ExitStatus {
  /// The operating system refused a request.
  static let failed: Int32 = 1
  /// The command line is invalid.
  static let usage: Int32 = 2
  /// The configuration is invalid: EX_CONFIG of sysexits(3), which systemd knows by name.
  static let configuration: Int32 = 78
  /// systemd restarts the daemon, which has left applications suspended: EX_TEMPFAIL. With this
  /// exit code, the unit's ExecStopPost= resumes no application.
  static let restarting: Int32 = 75
}

func write(_ text: String, to descriptor: Int32) {
  var text = text
  text.withUTF8 { _ = Glibc.write(descriptor, $0.baseAddress, $0.count) }
}

func complain(_ text: String) {
  write("taskschedd: \(Daemon.printable(text))\n", to: STDERR_FILENO)
}

func parse() -> Arguments {
  do {
    return try Arguments.parse()
  } catch {
    let isHelp = Arguments.exitCode(for: error) == .success
    let text = Arguments.fullMessage(for: error)
    // The text has several lines, whose newlines must not be escaped.
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    let printable = lines.map { Daemon.printable(String($0)) }.joined(separator: "\n")
    if isHelp {
      write(printable + "\n", to: STDOUT_FILENO)
      exit(0)
    }
    let prefix = "Error: "
    complain(printable.hasPrefix(prefix) ? String(printable.dropFirst(prefix.count)) : printable)
    exit(ExitStatus.usage)
  }
}

func environment() -> [String: String] {
  [
    "HOME", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "XDG_STATE_HOME", "XDG_RUNTIME_DIR",
    "STATE_DIRECTORY",
  ].reduce(into: [:]) {
    if let value = getenv($1) { $0[$1] = String(cString: value) }
  }
}

/// Returns the directory of data that outlives a boot; nil for a user without a home directory.
func statePath(_ arguments: Arguments) -> String? {
  if let path = arguments.state { return path }
  let environment = environment()
  if let folders = environment["STATE_DIRECTORY"], let first = folders.split(separator: ":").first {
    return String(first)
  }
  guard arguments.user else { return "/var/lib/taskschedd" }
  if let state = environment["XDG_STATE_HOME"], state.hasPrefix("/") {
    return state + "/taskschedd"
  }
  guard let home = environment["HOME"], home.hasPrefix("/") else { return nil }
  return home + "/.local/state/taskschedd"
}

/// Returns the path of the socket. Creates its directory if systemd has not created it.
func socketPath(_ arguments: Arguments) -> String {
  if let path = arguments.socket { return path }
  var folder = "/run/taskschedd"
  if arguments.user {
    guard let runtime = environment()["XDG_RUNTIME_DIR"], runtime.hasPrefix("/") else {
      complain("--user needs XDG_RUNTIME_DIR, the directory of the socket")
      exit(ExitStatus.failed)
    }
    folder = runtime + "/taskschedd"
  }
  if mkdir(folder, arguments.user ? 0o700 : 0o755) != 0, errno != EEXIST {
    complain("could not create the directory \(folder): \(String(cString: strerror(errno)))")
    exit(ExitStatus.failed)
  }
  return folder + "/socket"
}

// systemd executes taskschedd with this internal option to start the programs of applications.
if CommandLine.arguments.dropFirst().first == LaunchHelper.option { LaunchHelper.run() }

let arguments = parse()
var paths: ConfigurationPaths =
  arguments.user
  ? .user(uid: getuid(), environment: environment(), explicitFile: arguments.config)
  : .system(explicitFile: arguments.config, trustedOwners: [0, getuid()])
if !arguments.manifestDirectories.isEmpty {
  paths.manifestDirectories = arguments.manifestDirectories
}

if arguments.check {
  let (configuration, problems) = Configuration.load(from: paths)
  for problem in problems { write("\(problem)\n", to: STDERR_FILENO) }
  if problems.isEmpty {
    for warning in configuration.warnings(scope: paths.scope) {
      write("warning: \(warning)\n", to: STDERR_FILENO)
    }
  }
  if problems.isEmpty { print("no mistakes; \(configuration.manifestCount)") }
  exit(problems.isEmpty ? 0 : ExitStatus.configuration)
}

do {
  let path = socketPath(arguments)
  let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  var daemonArguments = Daemon.Arguments(
    paths: paths, socketPath: path,
    eventLogPath: arguments.noEventLog ? nil : arguments.eventLog ?? folder + "/event-log",
    statePath: statePath(arguments), logTarget: arguments.logTarget)
  daemonArguments.memInfo = arguments.memInfo
  daemonArguments.memoryPressure = arguments.memoryPressure
  daemonArguments.systemBus = arguments.systemBus
  let daemon = try Daemon(daemonArguments)
  let ending = try daemon.run()
  // The program exits without destroying `daemon`, because the kernel frees all resources. Some
  // libraries would even start threads to free their resources.
  withExtendedLifetime(daemon) { exit(ending == .restarting ? ExitStatus.restarting : 0) }
} catch StartFailure.configuration {
  complain("not started: the configuration has the problems above")
  Daemon.refuseWaitingConnections()
  exit(ExitStatus.configuration)
} catch {
  complain(String(describing: error))
  exit(ExitStatus.failed)
}

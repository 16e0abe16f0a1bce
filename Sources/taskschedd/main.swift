import ArgumentParser
import Glibc
import TaskSchedulerDaemon

struct Arguments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "taskschedd",
    abstract: "Keep the multitasking contract between applications and the machine.",
    discussion: """
      Serves applications and operators at a Unix socket until SIGTERM or SIGINT, and then lets \
      every suspended application go on. SIGHUP reads the settings and manifests again; those with \
      a mistake change nothing. systemd starts it from taskschedd.service; taskctl operates it. \
      While systemd restarts the service (systemctl restart), what is suspended stays so.

      Exit codes: 0 done; 1 the system refused something; 2 a mistake in the command line; \
      75 stopped to be restarted by systemd; 78 mistakes in the settings or manifests, each of \
      which was named.
      """,
    version: "taskschedd \(Daemon.version)")

  @Flag(help: "Serve the user who starts it, at $XDG_RUNTIME_DIR/taskschedd/socket.")
  var user = false

  @Option(
    help: ArgumentHelp(
      "Read FILE and FILE.d/*.toml in place of the standard settings.", valueName: "file"),
    completion: .file(extensions: ["toml"]))
  var config: String?

  @Option(
    name: .customLong("manifests"),
    help: ArgumentHelp(
      "Read manifests from DIR in place of the standard folders (may be repeated).",
      valueName: "dir"), completion: .directory)
  var manifestFolders: [String] = []

  @Option(
    help: ArgumentHelp("Listen at PATH, where systemd hands no socket over.", valueName: "path"),
    completion: .file())
  var socket: String?

  @Option(
    help: ArgumentHelp(
      "Keep the journal of what was promised in DIR, in place of a folder 'journal' beside the "
        + "socket.", valueName: "dir"), completion: .directory)
  var journal: String?

  @Option(
    help: ArgumentHelp(
      "Keep in DIR what outlives a boot: local notifications. Standard: $STATE_DIRECTORY, else "
        + "/var/lib/taskschedd or, with --user, $XDG_STATE_HOME/taskschedd.", valueName: "dir"),
    completion: .directory)
  var state: String?

  @Option(
    help: ArgumentHelp(
      "Show notifications on the session bus at ADDRESS (unix:path=…), in place of each user's "
        + "own.",
      valueName: "address"))
  var desktopBus: String?

  @Option(
    help: ArgumentHelp(
      "Read what memory the machine has from FILE, in place of /proc/meminfo.", valueName: "file",
      visibility: .hidden))
  var memInfo = "/proc/meminfo"

  @Option(
    help: ArgumentHelp(
      "Hear of pressure on memory from FILE (a control group's memory.pressure), in place of "
        + "/proc/pressure/memory.", valueName: "file", visibility: .hidden))
  var memoryPressure = "/proc/pressure/memory"

  @Flag(help: "Keep no journal, to measure what it costs: a crash makes the daemon forget all.")
  var noJournal = false

  @Option(help: "Where to log: auto (the journal where systemd started it), journal, stderr.")
  var logTarget: Log.Target = .auto

  @Flag(help: "Report every mistake in the settings and manifests, and end.")
  var check = false

  func validate() throws {
    let paths = [
      ("socket", socket), ("journal", journal), ("state", state), ("config", config),
    ]
    for (name, path) in paths where path == "" {
      throw ValidationError("--\(name) is empty; name a path, or leave it out for the usual one")
    }
  }
}

extension Log.Target: ExpressibleByArgument {}

/// Exit codes: 0 done, and these.
enum ExitStatus {
  /// The system refused something.
  static let failed: Int32 = 1
  /// Wrong arguments.
  static let usage: Int32 = 2
  /// Mistakes in the configuration: EX_CONFIG of sysexits(3), which systemd knows by name.
  static let configuration: Int32 = 78
  /// Stopped while systemd restarts the service, for which all was left as it stands: EX_TEMPFAIL,
  /// by which the unit's ExecStopPost= knows that there is nothing to let run.
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
    // Of more lines than one, for which the others are not to be taken.
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
    "STATE_DIRECTORY", "DBUS_SESSION_BUS_ADDRESS",
  ].reduce(into: [:]) {
    if let value = getenv($1) { $0[$1] = String(cString: value) }
  }
}

/// The folder of what outlives a boot; nil for a user without a home.
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

// Not for people: what the daemon has systemd start for it.
if CommandLine.arguments.dropFirst().first == HeldStart.option { HeldStart.run() }

let arguments = parse()
var paths: ConfigurationPaths =
  arguments.user
  ? .user(uid: getuid(), environment: environment(), explicitFile: arguments.config)
  : .system(explicitFile: arguments.config, trustedOwners: [0, getuid()])
if !arguments.manifestFolders.isEmpty { paths.manifestFolders = arguments.manifestFolders }

if arguments.check {
  let (configuration, problems) = Configuration.load(from: paths)
  for problem in problems { write("\(problem)\n", to: STDERR_FILENO) }
  if problems.isEmpty {
    for warning in configuration.warnings(scope: paths.scope) {
      write("warning: \(warning)\n", to: STDERR_FILENO)
    }
  }
  if problems.isEmpty { print("no mistakes; \(configuration.manifests.count) manifests") }
  exit(problems.isEmpty ? 0 : ExitStatus.configuration)
}

do {
  let path = socketPath(arguments)
  let folder = path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
  var daemonArguments = Daemon.Arguments(
    paths: paths, socketPath: path,
    journalPath: arguments.noJournal ? nil : arguments.journal ?? folder + "/journal",
    statePath: statePath(arguments),
    desktops: arguments.desktopBus.map { .one($0) }
      ?? .usual(for: paths.scope, environment: environment()),
    logTarget: arguments.logTarget)
  daemonArguments.memInfo = arguments.memInfo
  daemonArguments.memoryPressure = arguments.memoryPressure
  let daemon = try Daemon(daemonArguments)
  let ending = try daemon.run()
  // Nothing is taken apart: the kernel does that, and a library might want threads for it.
  withExtendedLifetime(daemon) { exit(ending == .restarting ? ExitStatus.restarting : 0) }
} catch StartFailure.configuration {
  complain("not started: the configuration has the mistakes above")
  exit(ExitStatus.configuration)
} catch {
  complain(String(describing: error))
  exit(ExitStatus.failed)
}

import ArgumentParser
import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerSession
import TaskSchedulerWire

struct Arguments: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "taskschedd-session",
    abstract: "Report the windows and the audio of this user's session, and show notifications.",
    discussion: """
      The session agent tells taskschedd which windows the user sees, so that the application of \
      the focused window is active. It shows the notifications of applications on the desktop. It \
      reports audio streams, calls to media players, and the locations of GeoClue. It also mutes \
      audio streams and lowers their volumes. It runs without privileges until SIGTERM or SIGINT, \
      and attaches to the system's daemon and to the user's own daemon. It waits for daemons, \
      compositors and X servers that do not run yet. systemd starts it from the user unit \
      taskschedd-session.service.

      Exit codes: 0 success; 1 the operating system refused a request; 2 invalid command line; \
      3 another session agent of the user has attached.
      """,
    version: "taskschedd-session \(Version.current)")

  @Option(
    name: .customLong("socket"),
    help: ArgumentHelp(
      "Attach to the daemon at PATH instead of the standard daemons (may be repeated).",
      valueName: "path"),
    completion: .file())
  var sockets: [String] = []

  func validate() throws {
    for path in sockets where !path.hasPrefix("/") {
      throw ValidationError("--socket '\(path)' is not an absolute path")
    }
  }
}

/// The exit codes other than 0.
enum ExitStatus {
  /// The operating system refused a request.
  static let failed: Int32 = 1
  /// The command line is invalid.
  static let usage: Int32 = 2
  /// Another session agent of the user has attached. The unit does not restart the agent.
  static let replaced: Int32 = 3
}

func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

/// Returns the sockets of the system's daemon and of the user's own daemon.
func standardSockets() -> [String] {
  let runtime = variable("XDG_RUNTIME_DIR") ?? "/run/user/\(getuid())"
  return ["/run/taskschedd/socket", "\(runtime)/taskschedd/socket"]
}

func parse() -> Arguments {
  do {
    return try Arguments.parse()
  } catch {
    let text = Arguments.fullMessage(for: error)
    if Arguments.exitCode(for: error) == .success {
      print(text)
      exit(0)
    }
    let prefix = "Error: "
    for line in (text.hasPrefix(prefix) ? String(text.dropFirst(prefix.count)) : text)
      .split(separator: "\n", omittingEmptySubsequences: false)
    {
      AgentLog.write(.error, String(line))
    }
    exit(ExitStatus.usage)
  }
}

/// Blocks SIGTERM and SIGINT, so that the loop can handle them.
func blockSignals() {
  var set = sigset_t()
  sigemptyset(&set)
  for signal in [SIGTERM, SIGINT] { sigaddset(&set, signal) }
  sigprocmask(SIG_BLOCK, &set, nil)
}

func run(_ arguments: Arguments) throws -> Int32 {
  blockSignals()
  let loop = try EventLoop()
  var status: Int32 = 0
  var stop = { loop.exit() }
  let signals = try [SIGTERM, SIGINT].map { try loop.watch(signal: $0) { stop() } }
  let sockets = arguments.sockets.isEmpty ? standardSockets() : arguments.sockets
  let agent = try SessionAgent(
    loop: loop, sockets: sockets,
    environment: SessionEnvironment(uid: getuid(), variable: variable)
  ) { occurrence in
    AgentLog.write(occurrence.level, "\(occurrence)")
    guard case .replaced = occurrence else { return }
    status = ExitStatus.replaced
    loop.exit()
  }
  stop = { agent.stop { loop.exit() } }
  try loop.run()
  withExtendedLifetime((agent, signals)) {}
  return status
}

do {
  exit(try run(parse()))
} catch {
  AgentLog.write(.error, "\(error)")
  exit(ExitStatus.failed)
}

import ArgumentParser
import TaskSchedulerClient
import TaskSchedulerWire

/// The time limit for an answer that the daemon gives at once. Such an answer takes milliseconds,
/// but longer on a machine under heavy load.
let answerTimeout: Duration = .seconds(30)

/// A command that calls the daemon.
protocol DaemonCommand: ParsableCommand {
  var options: ConnectionOptions { get }
}

/// The options that every command has: the daemon to call, and the form of the output. They may
/// precede or follow the name of the command.
struct ConnectionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The daemon's socket.",
      discussion: "Default: $TASKSCHEDD_SOCKET, else the socket of your own daemon if it exists,"
        + " else that of the system's daemon.",
      valueName: "path"),
    completion: .file())
  var socket: String?

  @Flag(help: "Use your own daemon: $XDG_RUNTIME_DIR/taskschedd/socket.")
  var user = false

  @Flag(help: "Use the system's daemon: /run/taskschedd/socket.")
  var system = false

  @Flag(help: "Print JSON, one document per line, as org.taskschedd.Control declares it.")
  var json = false

  func validate() throws {
    let count = [socket != nil, user, system].count { $0 }
    if count > 1 { throw ValidationError("give at most one of --socket, --user and --system") }
    if socket == "" { throw ValidationError("--socket needs a path") }
  }

  var path: SocketPath {
    if let socket { return SocketPath(socket) }
    if user { return .user }
    if system { return .system }
    return .standard
  }

  /// The options that select the daemon, as typed after `taskctl`; empty for the default.
  var words: String {
    if let socket { return " --socket \(PrintableText.of(socket))" }
    return user ? " --user" : system ? " --system" : ""
  }

  /// Whether the command line selects a daemon.
  var isGiven: Bool { socket != nil || user || system }

  func connect() throws -> Connection { try Connection.connect(to: path) }
}

/// The application that a command operates on.
struct ApplicationArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The application's id, like org.example.mail.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String

  @OptionGroup var ownerOption: OwnerOption

  var owner: Int? { ownerOption.owner?.uid }
}

/// The user who owns the application; needed if several users run an application with this id.
struct OwnerOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The owner of the application, by name or uid; needed if several users run it.",
      valueName: "user"),
    completion: OwnerCompletion.kind, transform: Owner.init(parsing:))
  var owner: Owner?

  /// Refuses an owner on a command line that names no application.
  func requireApplication(_ application: String?) throws {
    if owner != nil, application == nil { throw ValidationError("--owner needs an application") }
  }
}

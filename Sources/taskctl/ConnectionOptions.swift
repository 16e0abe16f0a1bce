import ArgumentParser
import TaskSchedulerClient
import TaskSchedulerWire

/// How long the daemon may take to answer what it can answer at once. It does so within
/// milliseconds; a machine under heavy load is given far more.
let answerTimeout: Duration = .seconds(30)

/// A command that asks a daemon.
protocol DaemonCommand: ParsableCommand {
  var options: ConnectionOptions { get }
}

/// Options of every command: which daemon, and for whom the answer is. They may stand before or
/// after the command's name.
struct ConnectionOptions: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "The daemon's socket.",
      discussion: "Without it: $TASKSCHEDD_SOCKET, else your own daemon's where it runs, else the"
        + " system's.",
      valueName: "path"),
    completion: .file())
  var socket: String?

  @Flag(help: "Your own daemon: $XDG_RUNTIME_DIR/taskschedd/socket.")
  var user = false

  @Flag(help: "The system's daemon: /run/taskschedd/socket.")
  var system = false

  @Flag(help: "Print JSON, one document on one line, as org.taskschedd.Control declares it.")
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

  /// The options that say which daemon, as they are typed after `taskctl`; empty where none does.
  var words: String {
    if let socket { return " --socket \(PrintableText.of(socket))" }
    return user ? " --user" : system ? " --system" : ""
  }

  /// Whether it was said which daemon.
  var isGiven: Bool { socket != nil || user || system }

  func connect() throws -> Connection { try Connection.connect(to: path) }
}

/// Which application, for the commands that name one.
struct ApplicationArgument: ParsableArguments {
  @Argument(
    help: ArgumentHelp("The application's id, like org.example.mail.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String

  @OptionGroup var ownerOption: OwnerOption

  var owner: Int? { ownerOption.owner?.uid }
}

/// Whose application, where several users run one of the same id.
struct OwnerOption: ParsableArguments {
  @Option(
    help: ArgumentHelp(
      "Whose application, by name or uid, where several users run one of that id.",
      valueName: "user"),
    completion: OwnerCompletion.kind, transform: Owner.init(parsing:))
  var owner: Owner?
}

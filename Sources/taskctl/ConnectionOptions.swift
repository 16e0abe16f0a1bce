import ArgumentParser
import TaskSchedulerClient
import TaskSchedulerWire

/// How long the daemon may take to answer what it can answer at once. It does so within
/// milliseconds; a machine under heavy load is given far more.
let answerTimeout: Duration = .seconds(30)

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
    transform: Owner.init(parsing:))
  var owner: Owner?
}

/// Completes application ids with those that the daemon knows.
enum ApplicationCompletion {
  static let kind = CompletionKind.custom { words, _, _ in ids(words) }

  /// The ids; none where no daemon answers quickly.
  private static func ids(_ words: [String]) -> [String] {
    let input = ControlInterface.ListApplications.Input()
    guard
      let connection = try? Connection.connect(to: path(words)),
      let output = try? connection.call(
        ControlInterface.ListApplications.self, input, timeout: .seconds(2))
    else { return [] }
    // A shell evaluates what it is given: only true ids, which hold nothing special.
    return output.applications.map(\.application).filter(isID)
  }

  /// The daemon that the command line so far speaks of.
  static func path(_ words: [String]) -> SocketPath {
    if let option = words.firstIndex(of: "--socket"), option + 1 < words.count {
      return SocketPath(words[option + 1])
    }
    if let word = words.first(where: { $0.hasPrefix("--socket=") }) {
      return SocketPath(String(word.dropFirst("--socket=".count)))
    }
    if words.contains("--user") { return .user }
    if words.contains("--system") { return .system }
    return .standard
  }

  static func isID(_ text: String) -> Bool {
    !text.isEmpty
      && text.utf8.allSatisfy {
        switch $0 {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
          UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"),
          UInt8(ascii: "."):
          true
        default: false
        }
      }
  }
}

import ArgumentParser
import Glibc
import TaskSchedulerClient
import TaskSchedulerWire

/// `taskctl monitor [APP]`.
struct MonitorCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "monitor",
    abstract: "Show changes as they happen.",
    discussion: """
      Prints a table of the applications, then a line for each change until Ctrl-C (exit code 0) \
      or until the daemon closes the connection (exit code 3). With --json: one JSON object per \
      line, each with one of "application", "ready" and "change".

      Examples:
        taskctl monitor
        taskctl monitor org.example.mail --until suspended
      """)

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var ownerOption: OwnerOption

  @Option(
    help: ArgumentHelp(
      "Exit with code 0 as soon as the application is in this state.", valueName: "state"),
    completion: .list(ControlInterface.State.allCases.map(\.rawValue)),
    transform: MonitorCommand.state)
  var until: ControlInterface.State?

  @Argument(
    help: ArgumentHelp("Show only this application.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String?

  func validate() throws {
    if until != nil && application == nil {
      throw ValidationError("--until needs an application: taskctl monitor APP --until STATE")
    }
  }

  static func state(_ text: String) throws -> ControlInterface.State {
    if let state = ControlInterface.State(rawValue: text) { return state }
    let names = ControlInterface.State.allCases.map(\.rawValue)
    throw ValidationError(noSuchName("state", text, among: names))
  }

  func run() throws {
    signal(SIGINT) { _ in _exit(ExitStatusCode.done) }
    let connection = try options.connect()
    let replies = try connection.callMore(
      ControlInterface.Monitor.self, .init(), timeout: answerTimeout)
    var screen = MonitorScreen(
      isJSON: options.json, application: application, owner: ownerOption.owner?.uid, until: until,
      daemon: UnknownApplication.words(options.path))
    do {
      while let reply = try replies.next() {
        try Output.write(screen.take(reply))
        if reply.ready == true, let doubt = screen.doubt { Output.complain(doubt) }
        if screen.isDone { return }
      }
    } catch ConnectionError.closedByDaemon {
      // The error below reports that the daemon has closed the connection.
    }
    throw CommandFailure.noDaemon(
      "taskschedd at \(PrintableText.of(connection.path)) closed the connection: it has stopped,"
        + " or taskctl did not read fast enough")
  }
}

/// The output of `taskctl monitor`, one reply after the other.
struct MonitorScreen {
  let isJSON: Bool
  let application: String?
  let owner: Int?
  let until: ControlInterface.State?
  /// A description of the daemon that taskctl called.
  let daemon: String
  /// Whether the application has been in the awaited state and the initial table has been printed.
  var isDone: Bool { isReached && isReady }
  private var isReached = false
  private var isReady = false
  /// The ids of all applications that the daemon has reported, including those that the filter
  /// omits.
  private var ids: [String] = []
  private var snapshot: [ControlInterface.Application] = []
  private var lines: ChangeLines
  /// Returns the current time and the properties of the terminal.
  private let context: () -> RenderingContext

  init(
    isJSON: Bool = false, application: String? = nil, owner: Int? = nil,
    until: ControlInterface.State? = nil, daemon: String,
    context: @escaping () -> RenderingContext = RenderingContext.forStandardOutput
  ) {
    self.isJSON = isJSON
    self.application = application
    self.owner = owner
    self.until = until
    self.daemon = daemon
    self.context = context
    lines = ChangeLines(context: context())
  }

  /// Returns the text for one reply; empty for a reply about an application that the filter omits.
  /// Without --json, the text is also empty until the daemon has reported all applications.
  mutating func take(_ reply: ControlInterface.Monitor.Output) -> String {
    if let known = reply.application {
      ids.append(known.application)
      guard matches(known.application, known.owner) else { return "" }
      notice(known.state)
      snapshot.append(known)
      lines.fit(known.application)
      return isJSON ? JSONOutput.line(reply) : ""
    }
    if let change = reply.change {
      guard matches(change.application, change.owner) else { return "" }
      if let state = change.to { notice(state) }
      lines.context = context()
      return isJSON ? JSONOutput.line(reply) : lines.text(change)
    }
    isReady = true
    return isJSON ? JSONOutput.line(reply) : ApplicationTable.text(snapshot, context()) + "\n"
  }

  /// A hint that the daemon does not know the application yet. This is not an error, because the
  /// application can still appear.
  var doubt: String? {
    guard let application, snapshot.isEmpty else { return nil }
    let nearest = nearestName(to: application, among: ids)
      .map { "; did you mean '\(PrintableText.of($0))'?" }
    return "taskctl: \(daemon) does not know an application"
      + " '\(PrintableText.of(application))' yet\(nearest ?? "")"
  }

  private mutating func notice(_ state: ControlInterface.State) {
    if state == until { isReached = true }
  }

  private func matches(_ application: String, _ owner: Int) -> Bool {
    (self.application ?? application) == application && (self.owner ?? owner) == owner
  }
}

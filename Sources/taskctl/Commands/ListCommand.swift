import ArgumentParser
import Glibc
import TaskSchedulerWire

/// `taskctl list [PATTERN…]`.
struct ListCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List running applications, the most recently active first.",
    discussion: """
      Lists the applications that are running, being launched, or waiting to be launched again; \
      with --all, also those that are not running. A pattern matches ids as the shell matches file \
      names. SINCE is the time in the current state; REMAINING is the background time that is \
      left. You see the applications that run as your user; an operator sees all. --json prints \
      the same selection.

      Examples:
        taskctl list
        taskctl list --all 'org.example.*'
        taskctl list --state suspended,background
        taskctl list --json | jq '.applications[] | select(.state == "suspended")'
      """,
    aliases: ["ps"])

  @OptionGroup var options: ConnectionOptions

  @Flag(help: "List applications that are not running, too.")
  var all = false

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "List only applications in these states. Separate states by commas, or repeat the option.",
      valueName: "state"),
    completion: .list(ControlInterface.State.allCases.map(\.rawValue)),
    transform: ListCommand.states)
  var states: [[ControlInterface.State]] = []

  @Flag(help: "Print neither the header nor the summary line.")
  var noLegend = false

  @Argument(
    help: ArgumentHelp("List only applications with matching ids.", valueName: "pattern"),
    completion: ApplicationCompletion.kind)
  var patterns: [String] = []

  private static func states(_ text: String) throws -> [ControlInterface.State] {
    try text.split(separator: ",", omittingEmptySubsequences: false).map {
      try MonitorCommand.state(String($0))
    }
  }

  func run() throws {
    var output = try options.connect().call(
      ControlInterface.ListApplications.self, .init(), timeout: answerTimeout)
    let selection = ApplicationSelection(
      output.applications, all: all, states: states.flatMap { $0 }, patterns: patterns)
    output.applications = selection.shown
    if options.json { return try Output.write(JSONOutput.line(output)) }
    let context = RenderingContext.forStandardOutput()
    try Output.write(
      noLegend
        ? ApplicationTable.text(selection.shown, context, header: false)
        : ApplicationTable.list(selection, context))
  }
}

/// The applications that `list` shows.
struct ApplicationSelection {
  var shown: [ControlInterface.Application]
  /// The number of applications that are omitted only because they are not running.
  var notRunning: Int

  /// Selects from the applications that the daemon knows.
  ///
  /// - Parameters:
  ///   - all: Whether to include applications that are not running.
  ///   - states: The states to include; empty means all.
  ///   - patterns: Shell patterns for ids; empty means all.
  init(
    _ applications: [ControlInterface.Application], all: Bool = false,
    states: [ControlInterface.State] = [], patterns: [String] = []
  ) {
    let matching = applications.filter { application in
      patterns.isEmpty || patterns.contains { fnmatch($0, application.application, 0) == 0 }
    }
    if states.isEmpty {
      shown = all ? matching : matching.filter(\.isAlive)
      notRunning = matching.count - shown.count
    } else {
      shown = matching.filter { states.contains($0.state) }
      notRunning = 0
    }
  }
}

extension ControlInterface.Application {
  /// Whether the application is running (managed or not), being launched or waiting for a relaunch.
  fileprivate var isAlive: Bool {
    state != .notRunning || instance != nil || nextLaunch != nil || unmanagedPID != nil
  }
}

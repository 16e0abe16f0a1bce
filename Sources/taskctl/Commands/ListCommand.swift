import ArgumentParser
import Glibc
import TaskSchedulerWire

/// `taskctl list [PATTERN…]`.
struct ListCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the applications that run, the most recently active first.",
    discussion: """
      Lists the applications that run, are being launched, or wait to be launched again; with \
      --all those that do not run, too. A pattern selects ids as the shell selects file names. \
      SINCE is how long the state has lasted; REMAINING, what is left of the background time. \
      You see the applications that run as you; an operator sees all. --json prints the same \
      selection.

      Examples:
        taskctl list
        taskctl list --all 'org.example.*'
        taskctl list --state suspended,background
        taskctl list --json | jq '.applications[] | select(.state == "suspended")'
      """,
    aliases: ["ps"])

  @OptionGroup var options: ConnectionOptions

  @Flag(help: "List the applications that do not run, too.")
  var all = false

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "Only applications in these states; separated by commas, or given several times.",
      valueName: "state"),
    completion: .list(ControlInterface.State.allCases.map(\.rawValue)),
    transform: ListCommand.states)
  var states: [[ControlInterface.State]] = []

  @Flag(help: "Print neither the header nor the line that counts.")
  var noLegend = false

  @Argument(
    help: ArgumentHelp("Only applications with such ids.", valueName: "pattern"),
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

/// What `list` shows of the applications that the daemon knows.
struct ApplicationSelection {
  var shown: [ControlInterface.Application]
  /// How many are left out only because they do not run.
  var notRunning: Int

  /// - Parameters:
  ///   - all: those that do not run, too.
  ///   - states: only these, whether they run or not; empty is all.
  ///   - patterns: ids as the shell matches names; empty is all.
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
  /// Whether it runs, managed or not, is being launched, or waits to be launched again.
  fileprivate var isAlive: Bool {
    state != .notRunning || instance != nil || nextLaunch != nil || unmanagedPID != nil
  }
}

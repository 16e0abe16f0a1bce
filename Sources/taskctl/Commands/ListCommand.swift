import ArgumentParser
import TaskSchedulerWire

/// `taskctl list [PATTERN…]`.
struct ListCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List running applications, the most recently active first.",
    discussion: """
      Lists the applications that run, that the daemon is launching, or that wait for a relaunch. \
      With --all, it also lists applications that do not run. A pattern matches ids as the shell \
      matches file names. SINCE is the time in the current state; REMAINING is the background time \
      that is left. You see the applications that run as your user; an operator sees all. --json \
      prints the same selection.

      Examples:
        taskctl list
        taskctl list --all 'org.example.*'
        taskctl list --state suspended,background
        taskctl list --json | jq '.applications[] | select(.state == "suspended")'
      """,
    aliases: ["ps"])

  @OptionGroup var options: ConnectionOptions

  @Flag(help: "Also list applications that do not run.")
  var all = false

  @Option(
    name: .customLong("state"),
    help: ArgumentHelp(
      "List only applications in these states. Separate states by commas, or repeat the option.",
      valueName: "state"),
    completion: .list(ControlInterface.State.allCases.map(\.rawValue)),
    transform: ListCommand.states)
  var states: [[ControlInterface.State]] = []

  @Flag(help: "Omit the header and the summary line.")
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

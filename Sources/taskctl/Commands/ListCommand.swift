import ArgumentParser
import TaskSchedulerWire

/// `taskctl list`.
struct ListCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "list",
    abstract: "List the applications, the most recently active first.",
    discussion: """
      SINCE is how long the state has lasted; REMAINING, what is left of the background time. \
      You see the applications that run as you; an operator sees all.

      Example: taskctl list --json | jq '.applications[] | select(.state == "suspended")'
      """)

  @OptionGroup var options: ConnectionOptions

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.ListApplications.self, .init(), timeout: answerTimeout)
    try Output.write(
      options.json
        ? JSONOutput.line(output)
        : ApplicationTable.text(output.applications, .forStandardOutput()))
  }
}

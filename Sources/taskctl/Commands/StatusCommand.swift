import ArgumentParser
import TaskSchedulerWire

/// `taskctl status [APP]`.
struct StatusCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show everything about an application, or a summary of the daemon.",
    discussion: """
      Shows the state of the application, the time since the last change, and what entitles the \
      application to run. Shows its background time, tasks, keep-alive handler, managed sockets, \
      held system changes, notifications and badge. Shows how the application last ended, and when \
      the daemon relaunches it. With --json: the reply of GetApplication; without an application, \
      that of ListApplications.

      Example: taskctl status org.example.mail
      """,
    aliases: ["show"])

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var ownerOption: OwnerOption

  @Argument(
    help: ArgumentHelp(
      "The application's id; without it, the command prints a summary of the daemon.",
      valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String?

  func validate() throws { try ownerOption.requireApplication(application) }

  func run() throws {
    if let application {
      let output = try options.connect().call(
        ControlInterface.GetApplication.self,
        .init(application: application, owner: ownerOption.owner?.uid), timeout: answerTimeout)
      try Output.write(
        options.json
          ? JSONOutput.line(output)
          : StatusText.text(output.application, .forStandardOutput()))
    } else {
      try Self.summarize(options)
    }
  }

  /// Prints a summary of the daemon.
  static func summarize(_ options: ConnectionOptions) throws {
    let connection = try options.connect()
    let output = try connection.call(
      ControlInterface.ListApplications.self, .init(), timeout: answerTimeout)
    if options.json { return try Output.write(JSONOutput.line(output)) }
    let sessions = try connection.call(
      ControlInterface.ListSessions.self, .init(), timeout: answerTimeout
    ).sessions
    try Output.write(
      StatusText.summary(output, sessions, path: connection.path, .forStandardOutput()))
  }
}

import ArgumentParser
import TaskSchedulerWire

/// `taskctl status [APP]`.
struct StatusCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "status",
    abstract: "Show everything about an application, or a summary of the daemon.",
    discussion: """
      Shows the state of the application and since when, what entitles it to run, the background \
      time that is left, its tasks, what will wake it (keep-alive, managed sockets), the system \
      changes held for it, its notifications and badge, how it last ended, and when it will be \
      relaunched. With --json: the daemon's GetApplication, or ListApplications without an \
      application.

      Example: taskctl status org.example.mail
      """,
    aliases: ["show"])

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var ownerOption: OwnerOption

  @Argument(
    help: ArgumentHelp("The application's id; the default is the daemon.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String?

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
    try Output.write(
      options.json
        ? JSONOutput.line(output)
        : StatusText.summary(output.applications, path: connection.path, .forStandardOutput()))
  }
}

import ArgumentParser
import TaskSchedulerWire

/// `taskctl inactive APP`.
struct InactiveCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "inactive",
    abstract: "Make the active application inactive.",
    discussion: """
      Use this command when something else takes the user's input, or when the application is \
      visible without the focus. The application stays in the foreground; 'taskctl foreground' \
      makes it active again.

      Example: taskctl inactive org.example.mail
      """)

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var target: ApplicationArgument

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.Deactivate.self,
      .init(application: target.application, owner: target.owner), timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

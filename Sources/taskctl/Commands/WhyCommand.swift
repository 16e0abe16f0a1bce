import ArgumentParser
import TaskSchedulerWire

/// `taskctl why APP`.
struct WhyCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Explain why an application is in its state, and what comes next.",
    discussion: """
      Explains in plain words what state the application is in and since when, what caused that \
      state, what entitles the application to run or why nothing does any longer, what will wake \
      it, how it ended, and which limit comes next with its consequence. The daemon recorded all \
      of this when it happened. For earlier changes, see 'taskctl log APP'. With --json: the \
      daemon's Explain.

      Example: taskctl why org.example.mail
      """)

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var ownerOption: OwnerOption

  @Argument(
    help: ArgumentHelp("The application's id.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String

  func run() throws {
    let connection = try options.connect()
    let output = try connection.call(
      ControlInterface.Explain.self,
      .init(application: application, owner: ownerOption.owner?.uid), timeout: answerTimeout)
    try Output.write(
      options.json ? JSONOutput.line(output) : WhyText.text(output, .forStandardOutput()))
  }
}

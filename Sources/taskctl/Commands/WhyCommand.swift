import ArgumentParser
import TaskSchedulerWire

/// `taskctl why APP`.
struct WhyCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "why",
    abstract: "Explain why an application is in its state, and what happens next.",
    discussion: """
      Explains the state of the application in sentences: the cause of the state, and what \
      entitles the application to run or why nothing does. It also explains what resumes a \
      suspended application, how an application ended, and which limit comes next. The daemon \
      recorded these facts when they happened. For earlier changes, see 'taskctl log APP'. With \
      --json: the reply of Explain.

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

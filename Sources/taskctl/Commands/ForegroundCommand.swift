import ArgumentParser
import TaskSchedulerWire

/// `taskctl foreground APP`.
struct ForegroundCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground",
    abstract: "Bring an application to the foreground.",
    discussion: """
      The application becomes active at its seat: a graphical session or a terminal. The \
      application that was active there goes to the background, or becomes inactive if a session \
      agent reports its windows. If the chosen application is not running and has a manifest, the \
      daemon launches it.

      Example: taskctl foreground org.example.mail
      """)

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var target: ApplicationArgument

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.Activate.self,
      .init(application: target.application, owner: target.owner), timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

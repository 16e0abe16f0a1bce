import ArgumentParser
import TaskSchedulerWire

/// `taskctl foreground APP`.
struct ForegroundCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground",
    abstract: "Bring an application to the foreground.",
    discussion: """
      The application becomes the active one of its seat, and the daemon sends the previous one to \
      the background. The daemon launches an application that is not running, if it has a \
      manifest.

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

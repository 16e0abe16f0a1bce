import ArgumentParser
import TaskSchedulerWire

/// `taskctl foreground APP`.
struct ForegroundCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "foreground",
    abstract: "Bring an application to the foreground.",
    discussion: """
      It becomes the active application of its seat, and the one that was is sent to the \
      background. One that is not running is launched, where a manifest says how.

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

import ArgumentParser
import TaskSchedulerWire

/// `taskctl background APP`.
struct BackgroundCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "background",
    abstract: "Send an application to the background.",
    discussion: """
      The application continues to run only while something entitles it to run, such as a \
      background task with time left. When nothing entitles it any longer, the daemon suspends it: \
      its processes execute no instruction until the daemon resumes it.

      Example: taskctl background org.example.mail
      """)

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var target: ApplicationArgument

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.SendToBackground.self,
      .init(application: target.application, owner: target.owner), timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

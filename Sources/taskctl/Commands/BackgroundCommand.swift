import ArgumentParser
import TaskSchedulerWire

/// `taskctl background APP`.
struct BackgroundCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "background",
    abstract: "Send an application to the background.",
    discussion: """
      It runs on only while something entitles it to: a background task with time left, audio \
      that plays, location updates. Then it is suspended: not one of its instructions runs \
      until it is brought back.

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

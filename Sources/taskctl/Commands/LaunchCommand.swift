import ArgumentParser
import TaskSchedulerWire

/// `taskctl launch APP`.
struct LaunchCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "launch",
    abstract: "Launch an application that has a manifest.",
    discussion: """
      The command returns when the program has started. The application becomes active, unless \
      you give --background. Use 'taskctl foreground' for an application that may already be \
      running.

      Example: taskctl launch org.example.mail --background
      """,
    aliases: ["start"])

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var target: ApplicationArgument

  @Flag(help: "Launch the application in the background.")
  var background = false

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.Launch.self,
      .init(
        application: target.application, owner: target.owner,
        background: background ? true : nil),
      timeout: answerTimeout)
    try Output.write(
      options.json
        ? JSONOutput.line(output)
        : "\(PrintableText.of(target.application)): launched, pid \(output.pid)\n")
    ServiceEnablement.warn(of: options.path, "no application is launched")
  }
}

import ArgumentParser
import TaskSchedulerWire

/// `taskctl reload`.
struct ReloadCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Read the configuration and the manifests again.",
    discussion: """
      With any mistake in them everything stays as it was, and each mistake is printed with its \
      file, line and key.

      Example: taskctl reload && taskctl config --changed
      """)

  @OptionGroup var options: ConnectionOptions

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.Reload.self, .init(), timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

import ArgumentParser
import TaskSchedulerWire

/// `taskctl reload`.
struct ReloadCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Reload the configuration and the manifests.",
    discussion: """
      If any file contains an error, nothing changes, and the command prints each error with its \
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

import ArgumentParser
import TaskSchedulerWire

/// `taskctl reload`.
struct ReloadCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "reload",
    abstract: "Make the daemon read the settings and manifests again.",
    discussion: """
      If a file has a mistake, the daemon changes nothing, and the command prints each mistake \
      with its file, line and key.

      Example: taskctl reload && taskctl config --changed
      """)

  @OptionGroup var options: ConnectionOptions

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.Reload.self, .init(), timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

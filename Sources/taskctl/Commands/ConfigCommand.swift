import ArgumentParser
import TaskSchedulerWire

/// `taskctl config`.
struct ConfigCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "config",
    abstract: "Show the effective settings and their sources.",
    discussion: """
      SOURCE is the file and line that sets the value, or 'default'.

      Example: taskctl config --changed
      """)

  @OptionGroup var options: ConnectionOptions

  @Flag(help: "Show only settings that differ from their default.")
  var changed = false

  func run() throws {
    var output = try options.connect().call(
      ControlInterface.GetSettings.self, .init(), timeout: answerTimeout)
    if changed { output.settings.removeAll { !$0.isChanged } }
    try Output.write(
      options.json
        ? JSONOutput.line(output)
        : SettingsTable.text(output.settings, .forStandardOutput()))
    guard !options.json else { return }
    for warning in output.warnings {
      Output.complain("taskctl: warning: \(PrintableText.of(warning))")
    }
  }
}

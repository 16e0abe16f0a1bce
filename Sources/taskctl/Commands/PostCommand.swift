import ArgumentParser
import TaskSchedulerWire

/// `taskctl post KIND [VALUE]`.
struct PostCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "post",
    abstract: "Notify applications of a custom system change.",
    discussion: """
      Running applications receive the change at once. For a suspended application the daemon \
      holds the newest change of each kind until it resumes the application for another reason. If \
      you are an operator, all applications receive the change; otherwise only yours. A kind has \
      at most 64 letters, digits, dots, - and _; a value at most 256 bytes.

      Example: taskctl post dock.state left
      """)

  @OptionGroup var options: ConnectionOptions

  @Argument(help: ArgumentHelp("The kind of change.", valueName: "kind"))
  var kind: String

  @Argument(help: ArgumentHelp("The new value.", valueName: "value"))
  var value: String?

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.PostSystemChange.self, .init(name: kind, value: value),
      timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

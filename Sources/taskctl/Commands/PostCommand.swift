import ArgumentParser
import TaskSchedulerWire

/// `taskctl post KIND [VALUE]`.
struct PostCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "post",
    abstract: "Tell applications of a change of the machine, of a kind of your own.",
    discussion: """
      Running applications hear of it at once. For a suspended one it is held, and comes when \
      that is resumed for another reason: only the newest of each kind. An operator tells all \
      applications, anybody else their own. A kind is at most 64 letters, digits, dots, - and _, a \
      value at most 256 bytes.

      Example: taskctl post dock.state left
      """)

  @OptionGroup var options: ConnectionOptions

  @Argument(help: ArgumentHelp("What has changed, in a word.", valueName: "kind"))
  var kind: String

  @Argument(help: ArgumentHelp("What holds now.", valueName: "value"))
  var value: String?

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.PostSystemChange.self, .init(name: kind, value: value),
      timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

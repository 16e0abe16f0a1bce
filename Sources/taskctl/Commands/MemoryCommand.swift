import ArgumentParser
import TaskSchedulerWire

/// `taskctl memory`.
struct MemoryCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Show memory pressure, the memory of each application, and the termination order.",
    discussion: """
      When processes stall on memory, the daemon warns every running application. If the pressure \
      lasts, it terminates applications one at a time: suspended ones first, then those in the \
      background, those with the most DIRTY memory first (private dirty and swapped, which the \
      termination frees), at a tie the least recently active. It never terminates an application \
      in the foreground. NEXT is the position in that order. A size with ~ is an estimate, for an \
      application that could not be measured in time. With --json: the reply of GetMemory of \
      org.taskschedd.Control.

      Example: taskctl memory
      """)

  @OptionGroup var options: ConnectionOptions

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.GetMemory.self, .init(), timeout: answerTimeout)
    try Output.write(
      options.json ? JSONOutput.line(output) : MemoryText.text(output, .forStandardOutput()))
  }
}

import ArgumentParser
import TaskSchedulerWire

/// `taskctl memory`.
struct MemoryCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Show memory pressure, the memory of each application, and the termination order.",
    discussion: """
      When processes wait for memory, the daemon warns every running application. If the pressure \
      lasts, it terminates applications one at a time: suspended applications first, then \
      applications in the background, never the foreground. Of each group, the application with \
      the most DIRTY memory goes first; at a tie, the least recently active. DIRTY is the private \
      dirty and swapped memory, which the termination frees. NEXT is the position in the order of \
      termination. A size with ~ is an estimate, because the daemon could not measure all \
      processes of the application. With --json: the reply of GetMemory of org.taskschedd.Control.

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

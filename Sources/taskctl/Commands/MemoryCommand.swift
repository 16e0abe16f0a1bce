import ArgumentParser
import TaskSchedulerWire

/// `taskctl memory`.
struct MemoryCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "memory",
    abstract: "Show how short memory is, what each application uses, and who would end next.",
    discussion: """
      When processes wait for memory, every running application is warned. If it lasts, \
      applications are ended one at a time: suspended ones first, then those in the background, \
      the most DIRTY first (private dirty and swapped: what the end gives back), at a tie the \
      least recently active; never the foreground. NEXT is the place in that order. A size with ~ \
      is an estimate, of one that could not be read in time. With --json: as GetMemory of \
      org.taskschedd.Control answers.

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

import ArgumentParser
import TaskSchedulerWire

/// `taskctl warn-memory [APP]`.
struct WarnMemoryCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "warn-memory",
    abstract: "Simulate a memory warning, for one application or for all.",
    discussion: """
      Running applications receive a memory warning; the daemon terminates none of them. A \
      suspended application, and an application without an event stream, cannot receive the \
      warning. --dry-run sends no warning: it prints the order in which the daemon would terminate \
      applications if memory ran short now.

      Examples:
        taskctl warn-memory org.example.mail
        taskctl warn-memory --dry-run
      """)

  @OptionGroup var options: ConnectionOptions

  @Argument(
    help: ArgumentHelp("The application; the default is all.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String?

  @OptionGroup var ownerOption: OwnerOption

  @Flag(help: "Print the order of termination, and send no warning.")
  var dryRun = false

  func validate() throws {
    try ownerOption.requireApplication(application)
    if dryRun, application != nil {
      throw ValidationError("--dry-run covers all applications; omit the application")
    }
  }

  func run() throws {
    let connection = try options.connect()
    if dryRun {
      let memory = try connection.call(
        ControlInterface.GetMemory.self, .init(), timeout: answerTimeout)
      let wouldEnd = memory.applications.filter { $0.position != nil }
      return try Output.write(
        options.json
          ? JSONOutput.line(["wouldEnd": JSONValue(wouldEnd)] as JSONValue)
          : MemoryText.round(wouldEnd, .forStandardOutput()))
    }
    let output = try connection.call(
      ControlInterface.WarnMemory.self,
      .init(application: application, owner: ownerOption.owner?.uid), timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

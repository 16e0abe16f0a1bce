import ArgumentParser
import TaskSchedulerWire

/// `taskctl warn-memory [APP]`.
struct WarnMemoryCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "warn-memory",
    abstract: "Simulate a warning that memory is short, to one application or to all.",
    discussion: """
      Running applications are told as if memory were short, and nobody is ended for it. One that \
      is suspended, or has no event stream, cannot be told. With --dry-run nobody is told \
      anything: it says who would be ended, in that order, if memory ran short now and stayed so.

      Examples:
        taskctl warn-memory org.example.mail
        taskctl warn-memory --dry-run
      """)

  @OptionGroup var options: ConnectionOptions

  @Argument(
    help: ArgumentHelp("The application; without it, all.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String?

  @OptionGroup var ownerOption: OwnerOption

  @Flag(help: "Say who would be ended, and do nothing.")
  var dryRun = false

  func validate() throws {
    if dryRun, application != nil {
      throw ValidationError("--dry-run is of all applications: leave the application out")
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
      .init(application: application, owner: application == nil ? nil : ownerOption.owner?.uid),
      timeout: answerTimeout)
    if options.json { try Output.write(JSONOutput.line(output)) }
  }
}

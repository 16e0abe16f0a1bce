import ArgumentParser
import TaskSchedulerClient
import TaskSchedulerWire

/// `taskctl terminate APP`.
struct TerminateCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "terminate",
    abstract: "End an application.",
    discussion: """
      Tells it that it will terminate (a program that knows nothing of taskschedd gets SIGTERM), \
      kills it when its time for that is up, waits until it has ended and says how. A suspended \
      application is killed without notice. One that waits to be launched again is not. Of one \
      that is not running, it says how it ended last.

      Example: taskctl terminate org.example.mail
      """,
    aliases: ["stop", "kill"])

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var target: ApplicationArgument

  @Flag(help: "Record that the user at the device ended it, not an operator.")
  var byUser = false

  @Flag(help: "Do not wait until it has ended.")
  var noWait = false

  func run() throws {
    let connection = try options.connect()
    let input = ControlInterface.Terminate.Input(
      application: target.application, owner: target.owner, byUser: byUser ? true : nil)
    if noWait {
      try start(input, on: connection)
      return
    }
    // The daemon bounds the wait itself: its time limits end in SIGKILL.
    let output = try connection.call(ControlInterface.Terminate.self, input)
    try Output.write(
      options.json
        ? JSONOutput.line(output)
        : "\(PrintableText.of(target.application)): \(output.end?.words ?? "has never run")\n")
    if !options.json, let detail = output.end?.detail { try Output.write("  \(detail)\n") }
  }

  /// Sends the call and does not wait for its answer; that there is such an application is asked
  /// before, so that a mistyped id is refused nonetheless.
  private func start(
    _ input: ControlInterface.Terminate.Input, on connection: Connection
  ) throws {
    let known = try connection.call(
      ControlInterface.GetApplication.self,
      .init(application: target.application, owner: target.owner), timeout: answerTimeout)
    // Of what does not run the answer comes at once.
    let timeout = known.application.state == .notRunning ? answerTimeout : .zero
    do {
      let output = try connection.call(ControlInterface.Terminate.self, input, timeout: timeout)
      if options.json { try Output.write(JSONOutput.line(output)) }
    } catch ConnectionError.timedOut {
      return
    }
  }
}

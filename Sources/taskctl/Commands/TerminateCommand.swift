import ArgumentParser
import TaskSchedulerClient
import TaskSchedulerWire

/// `taskctl terminate APP`.
struct TerminateCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "terminate",
    abstract: "Terminate an application.",
    discussion: """
      The daemon sends willTerminate, or the stop signal (SIGTERM by default) to a program without \
      an event stream. It kills the application if the application does not exit in time, and \
      kills a suspended application without notice. It also cancels a pending relaunch. The \
      command waits for the exit and prints how the application ended. For an application that is \
      not running, the command prints its last end.

      Example: taskctl terminate org.example.mail
      """,
    aliases: ["stop", "kill"])

  @OptionGroup var options: ConnectionOptions
  @OptionGroup var target: ApplicationArgument

  @Flag(help: "Record that the user, not an operator, terminated the application.")
  var byUser = false

  @Flag(help: "Return without waiting for the application to exit.")
  var noWait = false

  func run() throws {
    let connection = try options.connect()
    let input = ControlInterface.Terminate.Input(
      application: target.application, owner: target.owner, byUser: byUser ? true : nil)
    if noWait {
      try start(input, on: connection)
      return
    }
    // This call needs no timeout, because the daemon sends SIGKILL after its own time limit.
    let output = try connection.call(ControlInterface.Terminate.self, input)
    try Output.write(
      options.json
        ? JSONOutput.line(output)
        : "\(PrintableText.of(target.application)): \(output.end?.words ?? "has never run")\n")
    if !options.json, let detail = output.end?.detail { try Output.write("  \(detail)\n") }
  }

  /// Sends the call without waiting for its answer. Before that, asks the daemon for the
  /// application, so that the command fails for a mistyped id.
  private func start(
    _ input: ControlInterface.Terminate.Input, on connection: Connection
  ) throws {
    let known = try connection.call(
      ControlInterface.GetApplication.self,
      .init(application: target.application, owner: target.owner), timeout: answerTimeout)
    // If the application is not running, the daemon answers at once, and the command can wait for
    // the answer.
    let timeout = known.application.state == .notRunning ? answerTimeout : .zero
    do {
      let output = try connection.call(ControlInterface.Terminate.self, input, timeout: timeout)
      if options.json { try Output.write(JSONOutput.line(output)) }
    } catch ConnectionError.timedOut {
      return
    }
  }
}

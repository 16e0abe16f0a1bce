import ArgumentParser
import TaskSchedulerWire

/// `taskctl keepalives`.
struct KeepAlivesCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "keepalives",
    abstract: "List the keep-alive handlers and their next calls.",
    discussion: """
      The daemon calls a handler at least once in each INTERVAL, by its DEADLINE at the latest. It \
      calls the handlers of all applications in common bursts, so that the device wakes as rarely \
      as their deadlines allow. PLANNED is the next burst that includes the handler. With --json: \
      {"keepAlives": […]}; each element has the application, its owner and the instance.

      Example: taskctl keepalives
      """)

  @OptionGroup var options: ConnectionOptions

  /// The JSON form.
  private static func document(_ applications: [ControlInterface.Application]) -> JSONValue {
    let keepAlives = applications.compactMap { application -> JSONValue? in
      guard let instance = application.instance, let keepAlive = instance.keepAlive
      else { return nil }
      return [
        "application": JSONValue(application.application), "owner": JSONValue(application.owner),
        "instance": JSONValue(instance.id), "keepAlive": JSONValue(keepAlive),
      ]
    }
    return ["keepAlives": .array(keepAlives)]
  }

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.ListApplications.self, .init(), timeout: answerTimeout)
    let setters = output.applications.filter { $0.instance?.keepAlive != nil }
      .sorted { Self.place($0) < Self.place($1) }
    try Output.write(
      options.json
        ? JSONOutput.line(Self.document(setters))
        : KeepAliveTable.text(setters, .forStandardOutput()))
  }

  /// Returns the sort key. The application with the earliest next call comes first.
  private static func place(_ application: ControlInterface.Application) -> (Int, String, Int) {
    (application.instance?.keepAlive?.plannedUSec ?? 0, application.application, application.owner)
  }
}

import ArgumentParser
import TaskSchedulerWire

/// `taskctl tasks`.
struct TasksCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "tasks",
    abstract: "List outstanding background tasks.",
    discussion: """
      EXPIRED is 'yes' after the daemon has called the task's expiration handler. With --json: \
      {"tasks": […]}; each element has the application, its owner and the instance.

      Example: taskctl tasks
      """)

  @OptionGroup var options: ConnectionOptions

  /// The JSON form.
  private static func document(_ applications: [ControlInterface.Application]) -> JSONValue {
    let tasks = applications.flatMap { application in
      (application.instance?.tasks ?? []).map { task -> JSONValue in
        [
          "application": JSONValue(application.application), "owner": JSONValue(application.owner),
          "instance": JSONValue(application.instance?.id ?? 0), "task": JSONValue(task),
        ]
      }
    }
    return ["tasks": .array(tasks)]
  }

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.ListApplications.self, .init(), timeout: answerTimeout)
    try Output.write(
      options.json
        ? JSONOutput.line(Self.document(output.applications))
        : TaskTable.text(output.applications, .forStandardOutput()))
  }
}

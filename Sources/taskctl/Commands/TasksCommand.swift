import ArgumentParser
import TaskSchedulerWire

/// `taskctl tasks`.
struct TasksCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "tasks",
    abstract: "List outstanding background tasks.",
    discussion: """
      EXPIRED is 'yes' once the daemon has called the task's expiration handler. With --json: \
      {"tasks": […]}, each with its application, owner and instance beside the task.

      Example: taskctl tasks
      """)

  @OptionGroup var options: ConnectionOptions

  /// The JSON form.
  struct Listing: Codable, Hashable {
    struct Entry: Codable, Hashable {
      var application: String
      var owner: Int
      var instance: Int
      var task: ControlInterface.BackgroundTask
    }

    var tasks: [Entry]

    init(_ applications: [ControlInterface.Application]) {
      tasks = applications.flatMap { application in
        (application.instance?.tasks ?? []).map {
          Entry(
            application: application.application, owner: application.owner,
            instance: application.instance?.id ?? 0, task: $0)
        }
      }
    }
  }

  func run() throws {
    let output = try options.connect().call(
      ControlInterface.ListApplications.self, .init(), timeout: answerTimeout)
    try Output.write(
      options.json
        ? JSONOutput.line(Listing(output.applications))
        : TaskTable.text(output.applications, .forStandardOutput()))
  }
}

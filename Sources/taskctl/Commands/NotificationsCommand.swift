import ArgumentParser
import TaskSchedulerClient
import TaskSchedulerWire

/// `taskctl notifications`.
struct NotificationsCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "notifications",
    abstract: "List, show, cancel and post local notifications.",
    discussion: """
      You see and cancel the notifications of applications that run as your user; an operator \
      sees and cancels all.

      Examples:
        taskctl notifications
        taskctl notifications post org.example.mail 'Backup done' --sound complete
        taskctl notifications cancel 12
      """,
    subcommands: [List.self, Show.self, Cancel.self, Post.self], defaultSubcommand: List.self)

  /// `taskctl notifications list [APP]`.
  struct List: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "List notifications by the time at which they fire.",
      discussion: """
        A scheduled notification waits for its time. A fired notification waits for a desktop that \
        shows it. A presented notification was shown by a desktop or received by the active \
        application.

        Example: taskctl notifications list org.example.mail
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var ownerOption: OwnerOption

    @Argument(
      help: ArgumentHelp("List only notifications of this application.", valueName: "app"),
      completion: ApplicationCompletion.kind)
    var application: String?

    func validate() throws { try ownerOption.requireApplication(application) }

    func run() throws {
      let connection = try options.connect()
      var output = ControlInterface.ListNotifications.Output(notifications: [])
      var input = ControlInterface.ListNotifications.Input(
        application: application, owner: ownerOption.owner?.uid)
      repeat {
        let page = try connection.call(
          ControlInterface.ListNotifications.self, input, timeout: answerTimeout)
        output.notifications += page.notifications
        input.after = page.next
      } while input.after != nil
      output.notifications.sort {
        ($0.notification.firesAtUSec, $0.notification.id)
          < ($1.notification.firesAtUSec, $1.notification.id)
      }
      try Output.write(
        options.json
          ? JSONOutput.line(output)
          : NotificationText.table(output.notifications, .forStandardOutput()))
    }
  }

  /// `taskctl notifications show ID`.
  struct Show: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Show everything about a notification.",
      discussion: "Example: taskctl notifications show 12")

    @OptionGroup var options: ConnectionOptions

    @Argument(
      help: ArgumentHelp("The notification's id, from the list.", valueName: "id"),
      completion: NotificationCompletion.kind)
    var id: Int

    func run() throws {
      let found = try NotificationsCommand.find(id, try options.connect())
      try Output.write(
        options.json
          ? JSONOutput.line(found) : NotificationText.text(found, .forStandardOutput()))
    }
  }

  /// `taskctl notifications cancel ID…`.
  struct Cancel: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Cancel scheduled notifications and withdraw presented ones.",
      discussion: """
        Examples:
          taskctl notifications cancel 12 13
          taskctl notifications cancel --all org.example.mail
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var ownerOption: OwnerOption

    @Option(
      name: .customLong("all"),
      help: ArgumentHelp("Cancel all notifications of this application.", valueName: "app"),
      completion: ApplicationCompletion.kind)
    var application: String?

    @Argument(
      help: ArgumentHelp("The ids of the notifications, from the list.", valueName: "id"),
      completion: NotificationCompletion.kind)
    var ids: [Int] = []

    func validate() throws {
      if (application == nil) == ids.isEmpty {
        throw ValidationError("give the ids of notifications, or --all with an application")
      }
      if ownerOption.owner != nil, application == nil {
        throw ValidationError("--owner needs --all")
      }
    }

    func run() throws {
      let connection = try options.connect()
      var output = ControlInterface.CancelNotifications.Output(cancelled: [])
      if let application {
        output = try cancel(
          .init(application: application, owner: ownerOption.owner?.uid), connection)
      } else {
        for id in ids {
          output.cancelled += try cancel(.init(notification: id), connection).cancelled
        }
      }
      if options.json { return try Output.write(JSONOutput.line(output)) }
      for id in output.cancelled { try Output.write("cancelled: notification \(id)\n") }
    }

    private func cancel(
      _ input: ControlInterface.CancelNotifications.Input, _ connection: Connection
    ) throws -> ControlInterface.CancelNotifications.Output {
      try connection.call(
        ControlInterface.CancelNotifications.self, input, timeout: answerTimeout)
    }
  }

  /// Returns the notification with this id: the first one on the page that begins at the id.
  static func find(
    _ id: Int, _ connection: Connection
  ) throws -> ControlInterface.ApplicationNotification {
    let page = try connection.call(
      ControlInterface.ListNotifications.self, .init(after: max(0, id - 1)),
      timeout: answerTimeout)
    if let found = page.notifications.first, found.notification.id == id { return found }
    throw CommandFailure.failed(
      name: "UnknownNotification",
      sentence: "there is no notification \(id); see 'taskctl notifications list'")
  }
}

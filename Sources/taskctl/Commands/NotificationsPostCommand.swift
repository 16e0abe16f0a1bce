import ArgumentParser
import Glibc
import TaskSchedulerClient
import TaskSchedulerWire

extension NotificationsCommand {
  /// `taskctl notifications post APP TITLE [BODY]`.
  struct Post: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Schedule a notification for an application, or present it now.",
      discussion: """
        The daemon treats the notification as if the application had scheduled it. If the \
        application is active and has an event stream when the notification fires, the application \
        receives the notification. Otherwise the daemon shows the notification to the user; if the \
        user chooses it, the daemon activates the application. When this command returns, the \
        daemon has stored the notification.

        Examples:
          taskctl notifications post org.example.mail 'New mail' '3 messages' --badge 3
          taskctl notifications post org.example.tea Tea --at 2026-11-22T16:00:00 --repeats day
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var target: ApplicationArgument

    @Argument(help: ArgumentHelp("The first line, up to 256 bytes.", valueName: "title"))
    var title: String

    @Argument(help: ArgumentHelp("The text, up to 4096 bytes.", valueName: "body"))
    var body: String?

    @Option(
      help: ArgumentHelp(
        "A name from the freedesktop sound theme, or the absolute path of a sound file.",
        valueName: "sound"))
    var sound: String?

    @Option(
      help: ArgumentHelp(
        "The application's badge after the notification fires; 0 removes it.", valueName: "number"))
    var badge: Int?

    @Option(
      help: ArgumentHelp(
        "Data for the application, up to 4096 bytes; the user does not see it.", valueName: "text"))
    var userData: String?

    @Option(
      help: ArgumentHelp(
        "Fire at this wall-clock time, like 2026-11-22T16:00:00; the default is now.",
        valueName: "time"))
    var at: String?

    @Option(
      help: ArgumentHelp(
        "The time zone of --at, like Europe/Berlin; the default is this machine's.",
        valueName: "zone"))
    var zone: String?

    @Option(
      help: ArgumentHelp(
        "Repeat every minute, hour, day, week, month or year.", valueName: "interval"),
      completion: .list(ControlInterface.RepeatInterval.allCases.map(\.rawValue)),
      transform: Post.interval)
    var repeats: ControlInterface.RepeatInterval?

    func validate() throws {
      if at == nil, zone != nil || repeats != nil {
        throw ValidationError("--zone and --repeats need --at")
      }
    }

    private static func interval(_ text: String) throws -> ControlInterface.RepeatInterval {
      if let interval = ControlInterface.RepeatInterval(rawValue: text) { return interval }
      let names = ControlInterface.RepeatInterval.allCases.map(\.rawValue)
      throw ValidationError(noSuchName("interval", text, among: names))
    }

    /// Returns the name of this machine's time zone.
    private static func localZone() throws(CommandFailure) -> String {
      if let zone = TimeZoneName.current { return zone.rawValue }
      throw .failed(
        name: "UnknownTimeZone",
        sentence: "this machine's time zone is unknown; name one with --zone")
    }

    func run() throws {
      let schedule = try at.map {
        ControlInterface.NotificationSchedule(
          date: $0, timeZone: try zone ?? Self.localZone(), repeats: repeats)
      }
      let output = try options.connect().call(
        ControlInterface.PostNotification.self,
        .init(
          application: target.application, owner: target.owner,
          content: .init(
            title: title, body: body, sound: sound, badge: badge, userData: userData),
          schedule: schedule),
        timeout: answerTimeout)
      try Output.write(
        options.json ? JSONOutput.line(output) : "notification \(output.notification)\n")
      if at != nil {
        ServiceEnablement.warn(of: options.path, "no notification is shown")
      }
    }
  }
}

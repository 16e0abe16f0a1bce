import ArgumentParser
import Glibc
import TaskSchedulerWire

extension NotificationsCommand {
  /// `taskctl notifications post APP TITLE [BODY]`.
  struct Post: DaemonCommand {
    static let configuration = CommandConfiguration(
      abstract: "Schedule a notification for an application, or present it now.",
      discussion: """
        It is the application's, as if that had asked for it: an active application hears of it, \
        otherwise the user is shown it, and by choosing it activates the application. Stored when \
        this returns.

        Examples:
          taskctl notifications post org.example.mail 'New mail' '3 messages' --badge 3
          taskctl notifications post org.example.tea Tea --at 2026-11-22T16:00:00 --repeats day
        """)

    @OptionGroup var options: ConnectionOptions
    @OptionGroup var target: ApplicationArgument

    @Argument(help: ArgumentHelp("The first line, at most 256 bytes.", valueName: "title"))
    var title: String

    @Argument(help: ArgumentHelp("The text, at most 4096 bytes.", valueName: "body"))
    var body: String?

    @Option(
      help: ArgumentHelp(
        "A name of the freedesktop sound theme, or the absolute path of a sound file.",
        valueName: "sound"))
    var sound: String?

    @Option(
      help: ArgumentHelp(
        "What the application's badge becomes when it fires; 0 removes it.", valueName: "number"))
    var badge: Int?

    @Option(
      help: ArgumentHelp("For the application, not shown; at most 4096 bytes.", valueName: "text"))
    var userData: String?

    @Option(
      help: ArgumentHelp(
        "Not now but then: a wall-clock time, 2026-11-22T16:00:00.", valueName: "time"))
    var at: String?

    @Option(
      help: ArgumentHelp(
        "The time zone of that, like Europe/Berlin; without it, this machine's.",
        valueName: "zone"))
    var zone: String?

    @Option(
      help: ArgumentHelp(
        "And again each minute, hour, day, week, month or year.", valueName: "interval"),
      completion: .list(ControlInterface.RepeatInterval.allCases.map(\.rawValue)),
      transform: Post.interval)
    var repeats: ControlInterface.RepeatInterval?

    func validate() throws {
      if at == nil, zone != nil || repeats != nil {
        throw ValidationError("--zone and --repeats go with --at")
      }
    }

    private static func interval(_ text: String) throws -> ControlInterface.RepeatInterval {
      if let interval = ControlInterface.RepeatInterval(rawValue: text) { return interval }
      let names = ControlInterface.RepeatInterval.allCases.map(\.rawValue)
      throw ValidationError(noSuchName("interval", text, among: names))
    }

    func run() throws {
      let schedule = try at.map {
        ControlInterface.NotificationSchedule(
          date: $0, timeZone: try zone ?? LocalZone.name(), repeats: repeats)
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

/// The name of this machine's time zone.
enum LocalZone {
  /// From $TZ, else from where /etc/localtime leads.
  ///
  /// - Throws: `CommandFailure.failed` where neither names one.
  static func name() throws(CommandFailure) -> String {
    if let variable = environment("TZ") {
      let name = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
      if !name.isEmpty, !name.hasPrefix("/") { return name }
    }
    if let name = name(ofLink: target(of: "/etc/localtime")) { return name }
    throw .failed(
      name: "UnknownTimeZone",
      sentence: "this machine does not say which time zone it is in: name one with --zone")
  }

  /// `Europe/Berlin` of `/usr/share/zoneinfo/Europe/Berlin`.
  static func name(ofLink target: String) -> String? {
    let folder = "zoneinfo/"
    guard let range = target.lastRange(of: folder) else { return nil }
    return String(target[range...])
  }

  private static func target(of path: String) -> String {
    var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &buffer, buffer.count)
    let bytes = buffer.prefix(max(0, count)).map { UInt8(bitPattern: $0) }
    return String(decoding: bytes, as: UTF8.self)
  }
}

extension String {
  /// Where the text behind the last occurrence begins.
  fileprivate func lastRange(of text: String) -> Index? {
    indices.last { self[$0...].hasPrefix(text) }.map { index($0, offsetBy: text.count) }
  }
}

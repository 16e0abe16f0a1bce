import ArgumentParser
import Glibc
import TaskSchedulerWire

/// `taskctl remote COMMAND [SECONDS]`.
struct RemoteCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "remote",
    abstract: "Send a media command to the application that played last.",
    discussion: """
      Does what a media key does, even without a desktop. Two kinds of applications receive \
      commands: media players on the session bus, and applications with mode audio and an event \
      stream. The command goes to the application that plays, or else to the one that played last. \
      If that application is suspended, the daemon resumes it. A media player may ignore a command \
      that it does not support.

      Examples:
        taskctl remote play-pause
        taskctl remote seek -10
      """)

  @OptionGroup var options: ConnectionOptions

  @Argument(
    help: ArgumentHelp(
      "One of \(RemoteCommand.names.joined(separator: ", ")).", valueName: "command"),
    completion: .list(RemoteCommand.names), transform: RemoteCommand.parsed)
  var command: ControlInterface.RemoteCommand

  @Argument(
    help: ArgumentHelp(
      "With seek: how far to move the position; a negative number moves it backwards.",
      valueName: "seconds"))
  var seconds: Double?

  @Option(
    help: ArgumentHelp(
      "The user whose application receives the command, by name or uid; the default is you.",
      valueName: "user"),
    completion: OwnerCompletion.kind, transform: Owner.init(parsing:))
  var owner: Owner?

  /// The names of the media commands.
  static let names = ControlInterface.RemoteCommand.allCases.map(\.words)

  /// The maximum number of seconds that the daemon accepts.
  private static let secondsMax = 1e9

  private static func parsed(_ text: String) throws -> ControlInterface.RemoteCommand {
    if let command = ControlInterface.RemoteCommand.allCases.first(where: { $0.words == text }) {
      return command
    }
    throw ValidationError(noSuchName("command", text, among: names))
  }

  func validate() throws {
    guard let seconds else {
      if command == .seek { throw ValidationError("'seek' needs a number of seconds") }
      return
    }
    guard command == .seek else {
      throw ValidationError("'\(command.words)' takes no number of seconds; only 'seek' does")
    }
    guard (-Self.secondsMax...Self.secondsMax).contains(seconds) else {
      throw ValidationError(
        "the number of seconds is \(seconds); it must be from -1000000000 to 1000000000")
    }
  }

  func run() throws {
    let output: ControlInterface.RemoteControl.Output
    do {
      output = try options.connect().call(
        ControlInterface.RemoteControl.self,
        .init(command: command, seconds: seconds, owner: owner?.uid), timeout: answerTimeout)
    } catch ControlInterface.Failure.nothingPlayed {
      let name = PrintableText.of(UserName.of(owner?.uid ?? Int(geteuid())))
      let user = "the user '\(name)'"
      throw CommandFailure.failed(
        name: "NothingPlayed", sentence: ControlInterface.Failure.sentence(nothingPlayedBy: user))
    }
    try Output.write(
      options.json
        ? JSONOutput.line(output)
        : "sent \(command.words) to \(PrintableText.of(output.application))\n")
  }
}

extension ControlInterface.RemoteCommand {
  /// The name of the command on the command line.
  fileprivate var words: String {
    switch self {
    case .play: "play"
    case .pause: "pause"
    case .playPause: "play-pause"
    case .next: "next"
    case .previous: "previous"
    case .stop: "stop"
    case .seek: "seek"
    }
  }
}

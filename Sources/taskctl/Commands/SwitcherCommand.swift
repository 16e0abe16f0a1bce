import ArgumentParser
import Glibc
import TaskSchedulerClient
import TaskSchedulerWire

/// `taskctl switcher`.
struct SwitcherCommand: DaemonCommand {
  static let configuration = CommandConfiguration(
    commandName: "switcher",
    abstract: "Choose an application in the application switcher.",
    discussion: """
      Shows the applications of a seat, the most recently active one first. On a terminal, the \
      arrow keys or j and k select one, Enter activates it, x removes it from the switcher and \
      terminates it, and q, Esc or Ctrl-C leaves. The list changes as the applications do. Without \
      a terminal, or with --plain or --json, the command prints the list.

      Without --seat, --owner or --all, the command shows the first of these seats that has an \
      application in the switcher: your terminal, then your login session, if that session is not \
      graphical. If neither has such an application, the command shows your graphical session.

      Examples:
        taskctl switcher
        taskctl switcher --seat seat0
        taskctl switcher --all --json
      """)

  @OptionGroup var options: ConnectionOptions

  @Option(help: ArgumentHelp("Show the applications of this seat.", valueName: "seat"))
  var seat: String?

  @Option(
    help: ArgumentHelp(
      "Show only applications of this user, by name or uid; without --seat, those of all seats.",
      valueName: "user"),
    completion: OwnerCompletion.kind, transform: Owner.init(parsing:))
  var owner: Owner?

  @Flag(help: "Show the applications of all seats.")
  var all = false

  @Flag(help: "Print the list, even on a terminal.")
  var plain = false

  func validate() throws {
    if all, seat != nil { throw ValidationError("give at most one of --all and --seat") }
  }

  func run() throws {
    let query = SwitcherQuery(
      path: options.path,
      input: .init(seat: seat, owner: owner?.uid, all: all ? true : nil))
    if isInteractive { return try SwitcherSession.run(query) }
    let output = try query.list(on: try options.connect())
    if options.json { return try Output.write(JSONOutput.line(output)) }
    try Output.write(SwitcherTable.text(output, .forStandardOutput()))
  }

  private var isInteractive: Bool {
    !options.json && !plain && isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1
      && environment("TERM") != "dumb"
  }
}

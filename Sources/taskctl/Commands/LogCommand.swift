import ArgumentParser
import Glibc
import LinuxSystem

/// `taskctl log [APP]`.
struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show what the journal has of the daemon, or of one application.",
    discussion: """
      Runs journalctl with the right matches, so it needs no daemon: its pager, exit code and \
      permissions apply. Your user must be allowed to read the journal to see the system's.

      Examples:
        taskctl log org.example.mail --since today
        taskctl log -f --explain
      """)

  @OptionGroup var options: ConnectionOptions

  @Flag(name: .shortAndLong, help: "Wait for new records and show them.")
  var follow = false

  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("Only the newest so many records.", valueName: "count"))
  var lines: Int?

  @Option(
    help: ArgumentHelp(
      "Only records from this time on, as journalctl takes it: 'today', '10 min ago', …",
      valueName: "time"))
  var since: String?

  @Flag(help: "Explain each record by the message catalog.")
  var explain = false

  @Argument(
    help: ArgumentHelp("Only records about this application.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String?

  func validate() throws {
    if let lines, lines < 0 { throw ValidationError("--lines counts from 0 up") }
    if options.socket != nil {
      throw ValidationError("the journal knows no sockets: use --user or --system with log")
    }
  }

  /// journalctl's arguments, without its own name.
  func arguments(uid: UInt32) -> [String] {
    var arguments: [String] = []
    if follow { arguments.append("--follow") }
    if let lines { arguments.append("--lines=\(lines)") }
    if let since { arguments.append("--since=\(since)") }
    if explain { arguments.append("--catalog") }
    if options.json { arguments += ["--output=json", "--no-pager"] }
    // Matches of different fields must all hold.
    arguments.append("SYSLOG_IDENTIFIER=taskschedd")
    if options.user { arguments.append("_UID=\(uid)") }
    if options.system { arguments.append("_SYSTEMD_UNIT=taskschedd.service") }
    if let application { arguments.append("TASKSCHEDD_APP=\(application)") }
    return arguments
  }

  func run() throws {
    let folders = environment("PATH") ?? "/usr/bin:/bin"
    guard let path = SpawnRequest.searchPath("journalctl", in: folders) else {
      throw CommandFailure.failed(
        name: "JournalUnavailable",
        sentence: "there is no journalctl in PATH: on a machine without systemd's journal, "
          + "taskschedd logs to its standard error")
    }
    var pointers = (["journalctl"] + arguments(uid: Users.effectiveUID)).map { strdup($0) }
    pointers.append(nil)
    // It returns only when it fails.
    execv(path, &pointers)
    let code = errno
    for pointer in pointers { free(pointer) }
    throw CommandFailure.failed(
      name: "JournalUnavailable",
      sentence: "\(path) could not be executed: \(SystemError.describe(code))")
  }
}

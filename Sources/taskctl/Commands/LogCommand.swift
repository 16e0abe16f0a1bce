import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// `taskctl log [APP]`.
struct LogCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log",
    abstract: "Show the log of the daemon, or of one application.",
    discussion: """
      Where your user may read the journal in question, this runs journalctl with the right \
      matches; its pager and exit code apply. Else, and with --socket, the daemon is asked for the \
      newest records about your own applications that it has kept since it was started, and a \
      line on standard error says so; --follow, --since and --explain need the journal.

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
    let journalctl = SpawnRequest.searchPath(
      "journalctl", in: environment("PATH") ?? "/usr/bin:/bin")
    let asksDaemon =
      options.socket != nil || journalctl == nil
      || !JournalAccess.mayRead(ofUserDaemon: options.user)
    if asksDaemon, let connection = try daemon() { return try show(connection) }
    try run(journalctl)
  }

  /// The daemon, where its records are wanted; nil where it does not answer, and journalctl may
  /// have more to say.
  private func daemon() throws -> Connection? {
    do {
      return try options.connect()
    } catch {
      if options.socket != nil { throw error }
      return nil
    }
  }

  /// Shows what the daemon keeps itself.
  private func show(_ connection: Connection) throws {
    if follow || since != nil || explain {
      let name = follow ? "--follow" : since != nil ? "--since" : "--explain"
      let instead = follow ? "; 'taskctl monitor' shows what happens from now on" : ""
      throw CommandFailure.failed(
        name: "JournalUnavailable",
        sentence: "\(name) needs the journal, which "
          + (options.socket != nil
            ? "knows no sockets: use --user or --system" : "your user may not read")
          + instead)
    }
    let records = try DaemonLog.records(application: application, lines: lines, from: connection)
    if options.socket == nil {
      Output.complain(
        "taskctl: your user may not read the journal: these are the newest records about your "
          + "applications that taskschedd has kept since it was started")
    }
    try Output.write(
      options.json
        ? records.map { JSONOutput.line($0) }.joined()
        : records.map { DaemonLog.line($0) }.joined())
  }

  private func run(_ journalctl: String?) throws {
    guard let path = journalctl else {
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

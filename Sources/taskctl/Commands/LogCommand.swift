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
      If your user may read the system journal, this command executes journalctl with the matching \
      options. The pager and the exit code are then those of journalctl. Otherwise, and with \
      --socket, it prints the newest records about your applications that the daemon has kept \
      since the daemon started. The variable TASKSCHEDD_SOCKET has the effect of --socket, unless \
      it names the socket of your own or of the system's daemon. If the command cannot read the \
      journal, it prints the reason on standard error. --follow, --since and --explain need the \
      journal.

      Examples:
        taskctl log org.example.mail --since today
        taskctl log -f --explain
      """)

  @OptionGroup var options: ConnectionOptions

  @Flag(name: .shortAndLong, help: "Wait for new records and show them.")
  var follow = false

  @Option(
    name: [.customShort("n"), .long],
    help: ArgumentHelp("Show only this many of the newest records.", valueName: "count"))
  var lines: Int?

  @Option(
    help: ArgumentHelp(
      "Show only records since this time, in journalctl's syntax: 'today', '10 min ago', …",
      valueName: "time"))
  var since: String?

  @Flag(help: "Explain each record with the text of the message catalog.")
  var explain = false

  @Argument(
    help: ArgumentHelp("Show only records about this application.", valueName: "app"),
    completion: ApplicationCompletion.kind)
  var application: String?

  func validate() throws {
    if let lines, lines < 0 { throw ValidationError("--lines is \(lines); the minimum is 0") }
  }

  /// Returns the arguments for journalctl, without the program name.
  func arguments(uid: UInt32) -> [String] {
    var arguments: [String] = []
    if follow { arguments.append("--follow") }
    if let lines { arguments.append("--lines=\(lines)") }
    if let since { arguments.append("--since=\(since)") }
    if explain { arguments.append("--catalog") }
    if options.json { arguments += ["--output=json", "--no-pager"] }
    // journalctl combines matches of different fields with AND.
    arguments.append("SYSLOG_IDENTIFIER=taskschedd")
    if options.user { arguments.append("_UID=\(uid)") }
    if options.system { arguments.append("_SYSTEMD_UNIT=taskschedd.service") }
    if let application { arguments.append("TASKSCHEDD_APP=\(application)") }
    return arguments
  }

  /// Whether `--socket` selects the daemon, or $TASKSCHEDD_SOCKET selects a daemon that is neither
  /// the user's nor the system's. The journal does not record the sockets of daemons, so journalctl
  /// cannot select the records of such a daemon.
  private var namesSocket: Bool {
    options.socket != nil || ![.user, .system].contains(options.path)
  }

  func run() throws {
    let journalctl = SpawnRequest.searchPath(
      "journalctl", in: environment("PATH") ?? "/usr/bin:/bin")
    let asksDaemon =
      namesSocket || journalctl == nil
      || !JournalAccess.mayRead(ofUserDaemon: options.user)
    if asksDaemon, let connection = try daemon() {
      return try show(connection, hasJournalctl: journalctl != nil)
    }
    try run(journalctl)
  }

  /// Returns a connection to the daemon. Returns nil if the connection fails but journalctl may
  /// still show the records.
  private func daemon() throws -> Connection? {
    do {
      return try options.connect()
    } catch {
      if namesSocket { throw error }
      return nil
    }
  }

  /// Prints the records that the daemon keeps.
  private func show(_ connection: Connection, hasJournalctl: Bool) throws {
    let obstacle =
      hasJournalctl
      ? "you may not read the system journal" : "journalctl is not in PATH"
    if follow || since != nil || explain {
      let name = follow ? "--follow" : since != nil ? "--since" : "--explain"
      let instead = follow ? "; 'taskctl monitor' shows changes as they happen" : ""
      throw CommandFailure.failed(
        name: "JournalUnavailable",
        sentence: "\(name) needs the system journal, but "
          + (namesSocket
            ? "the journal does not record the socket of a daemon; use --user or --system"
            : obstacle + (explain ? "; omit --explain to see the newest records" : ""))
          + instead)
    }
    let records = try DaemonLog.records(application: application, lines: lines, from: connection)
    if !namesSocket {
      Output.complain(
        "taskctl: \(obstacle); showing the newest records about your applications since taskschedd "
          + "started")
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
        sentence: "journalctl is not in PATH; on a machine without systemd-journald, "
          + "taskschedd logs to its standard error")
    }
    var pointers = (["journalctl"] + arguments(uid: Users.effectiveUID)).map { strdup($0) }
    pointers.append(nil)
    // execv returns only on failure.
    execv(path, &pointers)
    let code = errno
    for pointer in pointers { free(pointer) }
    throw CommandFailure.failed(
      name: "JournalUnavailable",
      sentence: "could not execute \(path): \(SystemError.describe(code))")
  }
}

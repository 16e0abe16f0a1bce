import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerEventLog
import TaskSchedulerWire

/// `taskctl release`.
struct ReleaseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Resume the processes that a dead daemon left suspended, and restore their "
      + "priorities.",
    discussion: """
      Reads the event log of a daemon that no longer runs. Resumes every suspended process and \
      control group that the event log names, and restores the priorities that the daemon lowered. \
      The command compares the start time of each process, so that it never affects a process with \
      a reused id. While a daemon runs, the command changes nothing, because that daemon manages \
      the processes.

      If the event log is damaged, the command uses the undamaged part. In any case, it resumes \
      every stopped process with that daemon's TASKSCHEDD_SOCKET and a TASKSCHEDD_INSTANCE in its \
      environment. Programs that the daemon or 'taskctl run' launched have both variables.

      systemd runs this command when taskschedd.service stops and does not start again. Run it by \
      hand only if systemd did not start the daemon that has died.

      Exit codes: 0 success, or nothing to release; 1 if a daemon runs, if the event log is \
      damaged, if --event-log does not name an event log, or if the command could not resume a \
      process or restore a priority.

      With --json: "resumed", "restoredPriorities" and "failures".

      Example: sudo taskctl release
      """)

  @OptionGroup var options: ConnectionOptions

  @Option(
    help: ArgumentHelp(
      "The event log or its directory; the default is 'event-log' beside the socket.",
      valueName: "path"),
    completion: .file())
  var eventLog: String?

  @Flag(
    help: ArgumentHelp(
      "For units: do nothing if a daemon runs or systemd restarts it ($SERVICE_RESULT, "
        + "$EXIT_STATUS)."))
  var unlessRestarted = false

  /// The result of the command. Its JSON form is the output of `--json`.
  struct Report: Equatable {
    /// The processes and control groups that were resumed.
    var resumed: [String] = []
    /// The number of priorities that were restored.
    var restoredPriorities = 0
    /// The processes and priorities that could not be released, and the event logs that could not
    /// be read in full, with the reasons.
    var failures: [String] = []

    fileprivate var json: JSONValue {
      [
        "resumed": JSONValue(resumed), "restoredPriorities": JSONValue(restoredPriorities),
        "failures": JSONValue(failures),
      ]
    }

    fileprivate mutating func add(_ outcome: ProcessRelease.Outcome) {
      resumed += outcome.resumed
      failures += outcome.failures
    }
  }

  func validate() throws {
    if eventLog == "" { throw ValidationError("--event-log needs a path") }
  }

  func run() throws {
    if unlessRestarted, Self.isRestarted { return }
    let eventLogs = try eventLogs()
    guard let report = try Self.release(eventLogs, isUnit: unlessRestarted) else {
      if unlessRestarted { return }
      throw CommandFailure.failed(
        name: "DaemonRuns",
        sentence: "a daemon runs and manages the suspended applications; resume one with"
          + " 'taskctl foreground ID', or stop the daemon to resume all")
    }
    if options.json {
      try Output.write(JSONOutput.line(report.json))
    } else {
      for name in report.resumed { try Output.write("resumed: \(PrintableText.of(name))\n") }
      if report.restoredPriorities > 0 {
        try Output.write("restored: \(report.restoredPriorities) priorities\n")
      }
      if report == Report(), !unlessRestarted {
        try Output.write(PrintableText.of(eventLogs.nothing) + "\n")
      }
    }
    for failure in report.failures {
      Output.complain("taskctl: not released: \(PrintableText.of(failure))")
    }
    if !report.failures.isEmpty { throw ExitCode(ExitStatusCode.refused) }
  }

  /// Whether systemd restarts the daemon of the unit that runs this command.
  ///
  /// With Restart=on-failure, systemd restarts a daemon that was killed, crashed or hung. Exit code
  /// 75 requests a restart. For any other exit code, this property is false, because the next
  /// daemon is likely to exit too. The command then resumes the applications.
  private static var isRestarted: Bool {
    func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    return switch environment("SERVICE_RESULT") {
    case "signal", "core-dump", "watchdog", "oom-kill": true
    case "success": environment("EXIT_STATUS") == "75"
    case _: false
    }
  }

  static func directory(ofSocket path: String) -> String {
    (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/event-log"
  }

  /// The event logs to read, and the daemon that wrote them.
  private struct EventLogs {
    var paths: [String]
    /// The lock file, which the daemon holds while it runs; nil if there is none.
    var lock: String?
    /// The socket of the daemon that wrote the event logs.
    var socket: String
    /// Whether the command line names a file rather than a directory.
    var isFile = false
    /// The message to print if there was nothing to resume.
    var nothing = "there is nothing to resume"
  }

  private func eventLogs() throws -> EventLogs {
    let own = options.path.path
    let path = eventLog ?? Self.directory(ofSocket: own)
    guard let facts = FileStatus(path: path) else {
      if eventLog == nil {
        try Self.checkReadable(path)
        return EventLogs(
          paths: [], socket: own, nothing: "there is no event log at \(path); nothing to resume")
      }
      throw Self.unreadable("there is no \(path)")
    }
    // By default, the socket of a daemon is beside the directory of its event logs. The options may
    // name another socket.
    func socket(besideFolder directory: String) -> String {
      eventLog == nil || options.isGiven ? own : Self.parent(of: directory) + "/socket"
    }
    if facts.isRegularFile {
      let directory = Self.parent(of: path)
      // A copy of an event log has no lock beside it, and needs none: no daemon uses the copy.
      let lock = directory + "/lock"
      return EventLogs(
        paths: [path], lock: FileStatus(path: lock) == nil ? nil : lock,
        socket: socket(besideFolder: directory), isFile: true)
    }
    guard facts.isDirectory else { throw Self.unreadable("\(path) is \(facts.kindName)") }
    try Self.checkReadable(path)
    let names = try Directory.names(path: path).filter { $0.hasPrefix("event-log.") }
    if names.isEmpty, eventLog != nil {
      throw Self.unreadable("the directory \(path) contains no event log")
    }
    return EventLogs(
      paths: names.map { "\(path)/\($0)" }, lock: path + "/lock",
      socket: socket(besideFolder: path))
  }

  private static func parent(of path: String) -> String {
    var path = path[...]
    while path.count > 1, path.last == "/" { path.removeLast() }
    guard let slash = path.lastIndex(of: "/") else { return path == "." ? ".." : "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Throws an error if this process cannot read the directory at the path. A missing directory is
  /// no error.
  private static func checkReadable(_ path: String) throws {
    do throws(BoundedFileError) {
      _ = try Directory.names(path: path)
    } catch {
      guard case .failed(let error) = error else { return }
      throw unreadable(
        error.errno == EACCES
          ? "permission to read \(path) denied: only root and the daemon's user may read it"
          : "could not read \(path): \(error)")
    }
  }

  private static func unreadable(_ sentence: String) -> CommandFailure {
    .failed(name: "UnreadableEventLog", sentence: PrintableText.of(sentence))
  }

  /// Resumes the processes and restores the priorities that the event logs name. Returns nil if a
  /// daemon runs.
  private static func release(
    _ eventLogs: EventLogs, isUnit: Bool
  ) throws -> Report? {
    guard let path = eventLogs.lock else {
      // Without an event log there is no lock, so the socket shows whether a daemon runs. In a
      // unit, the daemon has ended before this command runs.
      return eventLogs.paths.isEmpty && !isUnit && answers(eventLogs.socket)
        ? nil : try resume(eventLogs)
    }
    guard let lock = try Directory.lock(path: path) else { return nil }
    let report = try resume(eventLogs)
    lock.close()
    return report
  }

  private static func answers(_ socket: String) -> Bool {
    guard let connection = try? Connection.connect(to: SocketPath(socket)) else { return false }
    let input = ControlInterface.ListApplications.Input()
    let answer = try? connection.call(
      ControlInterface.ListApplications.self, input, timeout: .seconds(2))
    return answer != nil
  }

  private static func resume(_ eventLogs: EventLogs) throws -> Report {
    var report = Report()
    let boot = BootID(try BootIdentity.text())
    for path in eventLogs.paths {
      do {
        let bytes = try BoundedFile.beginning(of: path, bytesMax: Leftovers.bytesMax)
        let left = try bytes.withUnsafeBytes { bytes in
          Result { () throws(EventLogRefusal) in try Leftovers(bytes, boot: boot) }
        }.get()
        let failuresBefore = report.failures.count
        try resume(left, &report)
        let isComplete = report.failures.count == failuresBefore
        if let damage = left.damage {
          report.failures.append("the event log \(path): \(damage)")
        }
        if isComplete, let mapping = try? FileMapping.open(path: path) {
          EventLogWriter.setClean(in: mapping.bytes)
        }
      } catch EventLogRefusal.otherBoot {
        continue
      } catch {
        if eventLogs.isFile { throw unreadable("\(path): \(error)") }
        report.failures.append("the event log \(path): \(error)")
      }
    }
    // The event log may be missing, or may not contain the last suspensions. Therefore also search
    // for processes with the daemon's markers in their environment.
    report.add(
      ProcessRelease.resume(EnvironmentMarkers(socket: eventLogs.socket), in: try ProcFS()))
    return report
  }

  private static func resume(_ left: Leftovers, _ report: inout Report) throws {
    let proc = try ProcFS()
    // The priorities come first, so that no resumed process runs at a lowered priority.
    let priorities = PriorityRelease.all(
      left.lowered.map { $0.compactMap { LoweredPriority($0) } }, in: proc)
    report.restoredPriorities += priorities.count
    report.failures += priorities.failures
    report.add(
      ProcessRelease.resume(
        left.stopped.filter { !$0.wasStopped }.map {
          ProcessIdentity(pid: $0.process.pid, startTime: $0.process.startTime)
        }, groups: left.groups.map { ControlGroup(path: $0) }, in: proc))
  }
}

extension LoweredPriority {
  /// Creates the lowered priority that the event log describes. Returns nil for a kind of priority
  /// that this version does not know.
  fileprivate init?(_ held: DaemonState.Lowered) {
    guard let kind = PriorityKind(rawValue: held.kind) else { return nil }
    self.init(
      thread: ProcessIdentity(pid: held.thread.pid, startTime: held.thread.startTime),
      process: held.process, group: held.group.map { ControlGroup(path: $0) }, kind: kind,
      before: held.before, after: held.after)
  }
}

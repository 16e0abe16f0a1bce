import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerJournal
import TaskSchedulerWire

/// `taskctl release`.
struct ReleaseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Let everything run that a daemon which is gone has left suspended or lowered.",
    discussion: """
      Reads the daemon's journal, resumes every process and control group that it names, and gives \
      priorities back that were lowered; each process is checked by its start time, so that no \
      other is reached. Nothing is done while a daemon runs: it manages what it has suspended.

      Where the journal is damaged, what is whole of it is used. Whoever has that daemon's \
      TASKSCHEDD_SOCKET and a TASKSCHEDD_INSTANCE in the environment is resumed in any case, as \
      launched programs and those of 'taskctl run' have.

      systemd runs this when taskschedd stops for good; by hand it is needed only where \
      taskschedd died, is not started again, and was not run by systemd.

      Exit codes: 0 done, or there was nothing to do; 1 something could not be let run, a daemon \
      runs, or what --journal names is no journal.

      Example: sudo taskctl release
      """)

  @OptionGroup var options: ConnectionOptions

  @Option(
    help: ArgumentHelp(
      "A journal or its folder, in place of 'journal' beside the socket.", valueName: "path"),
    completion: .file())
  var journal: String?

  @Flag(
    help: ArgumentHelp(
      "For units: do nothing where one runs, or systemd starts one again ($SERVICE_RESULT, "
        + "$EXIT_STATUS)."))
  var unlessRestarted = false

  struct Report: Encodable {
    var letRun: [String]
    var failures: [String]
  }

  func validate() throws {
    if journal == "" { throw ValidationError("--journal needs a path") }
  }

  func run() throws {
    if unlessRestarted, Self.isRestarted { return }
    let journals = try journals()
    guard let outcome = try Self.release(journals, isUnit: unlessRestarted) else {
      if unlessRestarted { return }
      throw CommandFailure.failed(
        name: "DaemonRuns",
        sentence: "a daemon runs and manages what it has suspended: 'taskctl foreground ID' resumes"
          + " an application, stopping the daemon resumes all")
    }
    if options.json {
      try Output.write(
        JSONOutput.line(document: Report(letRun: outcome.letRun, failures: outcome.failures)))
    } else {
      for name in outcome.letRun { try Output.write("let run: \(PrintableText.of(name))\n") }
      if outcome.letRun.isEmpty, outcome.failures.isEmpty, !unlessRestarted {
        try Output.write(PrintableText.of(journals.nothing) + "\n")
      }
    }
    for failure in outcome.failures {
      Output.complain("taskctl: not let run: \(PrintableText.of(failure))")
    }
    if !outcome.failures.isEmpty { throw ExitCode(ExitStatusCode.refused) }
  }

  /// Whether systemd, of whose unit this is run, starts a daemon again: by Restart=on-failure one
  /// that was killed, crashed or hung, by a restart one that has ended for it (75). One that ended
  /// by itself found that it could not serve.
  private static var isRestarted: Bool {
    func environment(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }
    return switch environment("SERVICE_RESULT") {
    case "signal", "core-dump", "watchdog", "oom-kill": true
    case "success": environment("EXIT_STATUS") == "75"
    case _: false
    }
  }

  static func folder(ofSocket path: String) -> String {
    (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/journal"
  }

  /// The journals to read, and the lock that a daemon which writes them holds.
  private struct Journals {
    var paths: [String]
    /// nil where no daemon can hold one.
    var lock: String?
    /// Of the daemon that wrote them.
    var socket: String
    /// Whether it was said that there is one.
    var isFile = false
    /// What is said where nothing is let run.
    var nothing = "nothing was left suspended"
  }

  private func journals() throws -> Journals {
    let own = options.path.path
    let path = journal ?? Self.folder(ofSocket: own)
    guard let facts = FileFacts(path: path) else {
      if journal == nil {
        try Self.checkReadable(path)
        return Journals(
          paths: [], socket: own, nothing: "there is no journal at \(path): nothing to let run")
      }
      throw Self.unreadable("there is no \(path)")
    }
    // A copy lies where no daemon keeps a lock, and is nobody's.
    func socket(besideFolder folder: String) -> String {
      journal == nil || options.isGiven ? own : Self.parent(of: folder) + "/socket"
    }
    if facts.isRegularFile {
      let folder = Self.parent(of: path)
      let lock = folder + "/lock"
      return Journals(
        paths: [path], lock: FileFacts(path: lock) == nil ? nil : lock,
        socket: socket(besideFolder: folder), isFile: true)
    }
    guard facts.isFolder else { throw Self.unreadable("\(path) is \(facts.kindName)") }
    try Self.checkReadable(path)
    let names = try Folder.names(path: path).filter { $0.hasPrefix("journal.") }
    if names.isEmpty, journal != nil {
      throw Self.unreadable("the folder \(path) holds no journal")
    }
    return Journals(
      paths: names.map { "\(path)/\($0)" }, lock: path + "/lock",
      socket: socket(besideFolder: path))
  }

  private static func parent(of path: String) -> String {
    var path = path[...]
    while path.count > 1, path.last == "/" { path.removeLast() }
    guard let slash = path.lastIndex(of: "/") else { return path == "." ? ".." : "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Whether one may look into the folder, or what would be above it.
  private static func checkReadable(_ path: String) throws {
    do throws(BoundedFileError) {
      _ = try Folder.names(path: path)
    } catch {
      guard case .failed(let error) = error else { return }
      throw unreadable(
        error.errno == EACCES
          ? "\(path) may not be read: only root and the daemon's own user may"
          : "\(path) cannot be read: \(error)")
    }
  }

  private static func unreadable(_ sentence: String) -> CommandFailure {
    .failed(name: "UnreadableJournal", sentence: PrintableText.of(sentence))
  }

  /// nil where a daemon runs.
  private static func release(
    _ journals: Journals, isUnit: Bool
  ) throws -> ProcessRelease.Outcome? {
    guard let path = journals.lock else {
      // One that keeps no journal, or whose folder was removed; its own unit knows that it is gone.
      return journals.paths.isEmpty && !isUnit && answers(journals.socket)
        ? nil : try letRun(journals)
    }
    guard let lock = try Folder.lock(path: path) else { return nil }
    let outcome = try letRun(journals)
    lock.close()
    return outcome
  }

  private static func answers(_ socket: String) -> Bool {
    guard let connection = try? Connection.connect(to: SocketPath(socket)) else { return false }
    let input = ControlInterface.ListApplications.Input()
    let answer = try? connection.call(
      ControlInterface.ListApplications.self, input, timeout: .seconds(2))
    return answer != nil
  }

  private static func letRun(_ journals: Journals) throws -> ProcessRelease.Outcome {
    var outcome = ProcessRelease.Outcome()
    let boot = BootID(try BootIdentity.text())
    for path in journals.paths {
      do {
        let bytes = try BoundedFile.beginning(of: path, bytesMax: LeftBehind.bytesMax)
        let left = try bytes.withUnsafeBytes { bytes in
          Result { () throws(JournalRefusal) in try LeftBehind(bytes, boot: boot) }
        }.get()
        let released = try letRun(left)
        outcome.add(released)
        if let damage = left.damage {
          outcome.failures.append("what \(path) named \(damage)")
        }
        if released.failures.isEmpty, let mapping = try? FileMapping.open(path: path) {
          JournalWriter.setClean(in: mapping.bytes)
        }
      } catch JournalRefusal.otherBoot {
        continue
      } catch {
        if journals.isFile { throw unreadable("\(path): \(error)") }
        outcome.failures.append("what \(path) names: \(error)")
      }
    }
    // What no journal tells of, or an older one does not yet, their environment does.
    outcome.add(ProcessRelease.letRun(ProcessMarks(socket: journals.socket), in: try ProcFS()))
    return outcome
  }

  private static func letRun(_ left: LeftBehind) throws -> ProcessRelease.Outcome {
    let proc = try ProcFS()
    // Whoever is let run has its priorities back.
    let priorities = PriorityRelease.all(
      left.lowered.map { $0.compactMap { LoweredPriority($0) } }, in: proc)
    var outcome = ProcessRelease.letRun(
      left.stopped.filter { !$0.wasStopped }.map {
        ProcessIdentity(pid: $0.process.pid, startTime: $0.process.startTime)
      }, groups: left.groups.map { ControlGroup(path: $0) }, in: proc)
    if priorities.count > 0 {
      outcome.letRun.insert("\(priorities.count) priorities as they were before", at: 0)
    }
    outcome.failures = priorities.failures + outcome.failures
    return outcome
  }
}

extension LoweredPriority {
  /// - Returns: nil for a lever that this version does not know.
  fileprivate init?(_ held: Holdings.Lowered) {
    guard let lever = PriorityLever(rawValue: held.lever) else { return nil }
    self.init(
      thread: ProcessIdentity(pid: held.thread.pid, startTime: held.thread.startTime),
      process: held.process, group: held.group.map { ControlGroup(path: $0) }, lever: lever,
      before: held.before, after: held.after)
  }
}

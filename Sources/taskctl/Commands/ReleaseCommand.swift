import ArgumentParser
import Glibc
import LinuxSystem
import TaskSchedulerJournal

/// `taskctl release`.
struct ReleaseCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "release",
    abstract: "Let everything run that a daemon which is gone has left suspended.",
    discussion: """
      Reads the daemon's journal and resumes every process and control group that it names; each \
      process is checked by its start time, so that no other is reached. Nothing is done while a \
      daemon runs: it manages what it has suspended.

      systemd runs this when taskschedd stops for good; by hand it is needed only where \
      taskschedd died, is not started again, and was not run by systemd.

      Exit codes: 0 done, or there was nothing to do; 1 something could not be let run, or a \
      daemon runs.

      Example: sudo taskctl release
      """)

  @OptionGroup var options: ConnectionOptions

  @Option(
    help: ArgumentHelp(
      "The folder of the journal, in place of 'journal' beside the socket.", valueName: "dir"))
  var journal: String?

  @Flag(
    help: ArgumentHelp(
      "For units: do nothing where one runs, or systemd starts one again ($SERVICE_RESULT)."))
  var unlessRestarted = false

  struct Report: Encodable {
    var letRun: [String]
    var failures: [String]
  }

  func run() throws {
    let result = getenv("SERVICE_RESULT").map { String(cString: $0) }
    if unlessRestarted, Self.isRestarted(result: result) { return }
    let folder = journal ?? Self.folder(ofSocket: options.path.path)
    guard let outcome = try Self.release(folder) else {
      if unlessRestarted { return }
      throw CommandFailure.failed(
        name: "DaemonRuns",
        sentence: "a daemon runs and manages what it has suspended: 'taskctl foreground ID' resumes"
          + " an application, stopping the daemon resumes all")
    }
    if options.json {
      try Output.write(
        JSONOutput.line(Report(letRun: outcome.letRun, failures: outcome.failures)))
    } else {
      for name in outcome.letRun { try Output.write("let run: \(PrintableText.of(name))\n") }
    }
    for failure in outcome.failures {
      Output.complain("not let run: \(PrintableText.of(failure))")
    }
    if !outcome.failures.isEmpty { throw ExitCode(ExitStatusCode.refused) }
  }

  /// Whether Restart=on-failure brings a daemon back that ended so: one that was killed, crashed or
  /// hung. One that ended by itself found that it could not serve.
  static func isRestarted(result: String?) -> Bool {
    switch result {
    case "signal", "core-dump", "watchdog", "oom-kill": true
    case _: false
    }
  }

  static func folder(ofSocket path: String) -> String {
    (path.lastIndex(of: "/").map { String(path[..<$0]) } ?? ".") + "/journal"
  }

  /// nil where a daemon runs.
  static func release(_ folder: String) throws -> ProcessRelease.Outcome? {
    guard access(folder, F_OK) == 0 else { return .init() }
    guard let lock = try Folder.lock(path: folder + "/lock") else { return nil }
    let outcome = try letRun(folder)
    lock.close()
    return outcome
  }

  private static func letRun(_ folder: String) throws -> ProcessRelease.Outcome {
    var outcome = ProcessRelease.Outcome()
    let boot = BootID(try BootIdentity.text())
    for name in try Folder.names(path: folder) where name.hasPrefix("journal.") {
      do {
        let mapping = try FileMapping.open(path: "\(folder)/\(name)")
        let left = try LeftBehind(UnsafeRawBufferPointer(mapping.bytes), boot: boot)
        let released = ProcessRelease.letRun(
          left.stopped.filter { !$0.wasStopped }.map {
            ProcessIdentity(pid: $0.process.pid, startTime: $0.process.startTime)
          }, groups: left.groups.map { ControlGroup(path: $0) }, in: try ProcFS())
        if let damage = left.damage {
          outcome.failures.append("what \(folder)/\(name) named \(damage)")
        }
        outcome.letRun += released.letRun
        outcome.failures += released.failures
        if released.failures.isEmpty { JournalWriter.setClean(in: mapping.bytes) }
      } catch JournalRefusal.otherBoot {
        continue
      } catch {
        outcome.failures.append("what \(folder)/\(name) names: \(error)")
      }
    }
    // What the journal does not tell of, their environment does.
    if !outcome.failures.isEmpty {
      let marked = ProcessRelease.letRunMarked(in: try ProcFS())
      outcome.letRun += marked.letRun
      outcome.failures += marked.failures
    }
    return outcome
  }
}

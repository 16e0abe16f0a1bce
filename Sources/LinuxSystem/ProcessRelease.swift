import Glibc

/// Lets processes run that were stopped by somebody who is gone.
public enum ProcessRelease {
  /// What came of it.
  public struct Outcome: Sendable {
    /// Processes and groups that run again.
    public var letRun: [String] = []
    public var failures: [String] = []

    /// Nothing yet.
    public init() {}

    /// Adds what came of more.
    public mutating func add(_ other: Outcome) {
      letRun += other.letRun
      failures += other.failures
    }
  }

  /// Continues every stopped process that a daemon has marked: where the record of who was stopped
  /// is lost, wholly or in part.
  ///
  /// - Parameters:
  ///   - marks: of the daemon that is gone: another's are left alone.
  ///   - held: who is managed again.
  public static func letRun(
    _ marks: ProcessMarks, except held: Set<ProcessIdentity> = [], in proc: ProcFS
  ) -> Outcome {
    let marked = ((try? proc.pids()) ?? []).compactMap { pid -> ProcessIdentity? in
      guard let stat = (try? proc.stat(pid)) ?? nil, stat.state == .stopped,
        !held.contains(stat.identity), marks.marker(of: pid, in: proc) != nil
      else { return nil }
      return stat.identity
    }
    return letRun(marked, groups: [], in: proc)
  }

  /// Thaws the groups that are there, and continues the processes, the last first: each is held
  /// by its pidfd and checked by its start time, so that no other is reached. What is gone, or
  /// runs, is left alone.
  public static func letRun(
    _ processes: [ProcessIdentity], groups: [ControlGroup], in proc: ProcFS
  ) -> Outcome {
    var outcome = Outcome()
    for group in groups {
      do throws(SystemError) {
        guard try group.isToBeFrozen() == true else { continue }
        try group.thaw()
        outcome.letRun.append("control group \(group.path)")
      } catch {
        outcome.failures.append("control group \(group.path): \(error)")
      }
    }
    for process in processes.reversed() {
      do throws(SystemError) {
        guard let pidfd = try PIDFD.open(process.pid),
          try pidfd.identity(in: proc) == process,
          let stat = try proc.stat(process.pid), stat.state == .stopped
        else { continue }
        _ = try pidfd.send(signal: SIGCONT)
        outcome.letRun.append("process \(process.pid) (\(stat.command))")
      } catch {
        outcome.failures.append("process \(process.pid): \(error)")
      }
    }
    return outcome
  }
}

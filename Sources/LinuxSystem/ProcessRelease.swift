import Glibc

/// The release of processes that a dead daemon left stopped.
public enum ProcessRelease {
  /// The result of a release.
  public struct Outcome: Sendable {
    /// The processes and control groups that were resumed.
    public var resumed: [String] = []
    public var failures: [String] = []

    /// Creates an empty result.
    public init() {}

    /// Adds another result.
    public mutating func add(_ other: Outcome) {
      resumed += other.resumed
      failures += other.failures
    }
  }

  /// Resumes every stopped process whose environment has a marker of the daemon. Use this if the
  /// record of stopped processes is lost.
  ///
  /// - Parameters:
  ///   - marks: The markers of the dead daemon. The function does not change processes of other
  ///     daemons.
  ///   - held: Processes that a daemon manages again. The function does not change them.
  public static func resume(
    _ marks: EnvironmentMarkers, except held: Set<ProcessIdentity> = [], in proc: ProcFS
  ) -> Outcome {
    let marked = ((try? proc.pids()) ?? []).compactMap { pid -> ProcessIdentity? in
      guard let stat = (try? proc.stat(pid)) ?? nil, stat.state == .stopped,
        !held.contains(stat.identity), marks.marker(of: pid, in: proc) != nil
      else { return nil }
      return stat.identity
    }
    return resume(marked, groups: [], in: proc)
  }

  /// Thaws the control groups that exist, and resumes the processes, the last first. The pidfd and
  /// the start time ensure that no other process receives the signal. Skips processes that run or
  /// do not exist.
  public static func resume(
    _ processes: [ProcessIdentity], groups: [ControlGroup], in proc: ProcFS
  ) -> Outcome {
    var outcome = Outcome()
    for group in groups {
      do throws(SystemError) {
        guard try group.isToBeFrozen() == true else { continue }
        try group.thaw()
        outcome.resumed.append("control group \(group.path)")
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
        outcome.resumed.append("process \(process.pid) (\(stat.command))")
      } catch {
        outcome.failures.append("process \(process.pid): \(error)")
      }
    }
    return outcome
  }
}

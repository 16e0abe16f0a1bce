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

  /// The entry of the environment by which processes under management are known.
  public static let markerName = "TASKSCHEDD_INSTANCE"
  /// The one that says whose they are.
  static let socketName = "TASKSCHEDD_SOCKET"

  /// Continues every stopped process that has the marker in its environment: where the record of
  /// who was stopped is lost, wholly or in part. Whose environment may not be read is left alone.
  ///
  /// - Parameters:
  ///   - socket: of the daemon that is gone: another's are left alone.
  ///   - held: who is managed again.
  public static func letRunMarked(
    socket: String, except held: Set<ProcessIdentity> = [], in proc: ProcFS
  ) -> Outcome {
    let place = SocketPlace(socket)
    let marked = ((try? proc.pids()) ?? []).compactMap { pid -> ProcessIdentity? in
      guard let stat = (try? proc.stat(pid)) ?? nil, stat.state == .stopped,
        value(of: markerName, pid, proc) != nil,
        value(of: socketName, pid, proc).map({ SocketPlace($0) == place }) ?? true,
        !held.contains(stat.identity)
      else { return nil }
      return stat.identity
    }
    return letRun(marked, groups: [], in: proc)
  }

  private static func value(of name: String, _ pid: Int32, _ proc: ProcFS) -> String? {
    (try? proc.environmentValue(pid, of: name)) ?? nil
  }

  /// A path, whichever links lead to its folder. The socket need not be there.
  private struct SocketPlace: Equatable {
    let folder: String
    let name: Substring

    init(_ path: String) {
      let slash = path.lastIndex(of: "/")
      let folder = slash.map { String(path[...$0]) } ?? "."
      self.folder = Folder.resolved(path: folder) ?? folder
      name = slash.map { path[path.index(after: $0)...] } ?? path[...]
    }
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

import LinuxSystem
import TaskSchedulerCore

/// The processes of a session agent's last report, and the instances found so far.
///
/// To find the instance of a process, the daemon reads several files of /proc. It therefore
/// examines each process once, in steps. It examines a process without an instance again after an
/// instance has been added.
struct ReportedProcesses {
  /// The result of the examination of a process.
  private enum Found {
    case instance(InstanceProcesses)
    /// The process belonged to no instance of the user in this ``InstanceMembership/generation``.
    case unmanaged(UInt64)
  }

  private var reported: Set<ProcessIdentity> = []
  private var found: [ProcessIdentity: Found] = [:]
  /// The processes to examine.
  private var pending: [ProcessIdentity] = []

  /// Whether processes remain to be examined.
  var isPending: Bool { !pending.isEmpty }

  /// Takes the processes of a new report.
  mutating func take(_ processes: Set<ProcessIdentity>) {
    reported = processes
    found = found.filter { processes.contains($0.key) }
  }

  /// Begins the examination of the processes whose instance is not known.
  mutating func begin(in membership: InstanceMembership) {
    let current = membership.generation
    pending = reported.filter { process in
      switch found[process] {
      case .instance(let instance): instance.isReleased
      case .unmanaged(let generation): generation != current
      case nil: true
      }
    }
  }

  /// Examines a process, if one remains to be examined.
  mutating func examineNext(of uid: UInt32, in membership: InstanceMembership) {
    guard let process = pending.popLast() else { return }
    let generation = membership.generation
    // A process that the daemon cannot examine belongs to no instance.
    let instance = (try? Self.instance(of: process, uid: uid, in: membership)) ?? nil
    found[process] = instance.map { .instance($0) } ?? .unmanaged(generation)
  }

  private static func instance(
    of process: ProcessIdentity, uid: UInt32, in membership: InstanceMembership
  ) throws(SystemError) -> InstanceProcesses? {
    guard try membership.proc.exists(process),
      let instance = try membership.instance(of: process, uid: uid), instance.uid == uid
    else { return nil }
    return instance
  }

  /// Returns the running instance of a process; nil if it has none, or if none is known yet.
  func instance(of process: ProcessIdentity) -> InstanceID? {
    guard case .instance(let instance) = found[process], !instance.isReleased else { return nil }
    return instance.id
  }

  /// Returns whether a process belonged to no instance when it was examined.
  func isUnmanaged(_ process: ProcessIdentity) -> Bool {
    if case .unmanaged = found[process] { true } else { false }
  }
}

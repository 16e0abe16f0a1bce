import Glibc
import LinuxSystem
import Synchronization

/// A new cgroup below that of the tests. When the value is destroyed, the processes of the cgroup
/// are killed, and the cgroup is removed.
public final class TestControlGroup: Sendable {
  public let group: ControlGroup

  private static let made = Atomic<Int>(0)

  /// The reason why this machine cannot create a control group; nil if it can.
  public static let missing: String? = {
    guard let proc = try? ProcFS(), let own = try? ControlGroup.own(in: proc) else {
      return "no cgroup v2 hierarchy is mounted here"
    }
    return own.isDelegated ? nil : "\(own.path) is not delegated to this user"
  }()

  public static var isPossible: Bool { missing == nil }

  public init() throws {
    guard let own = try ControlGroup.own(in: ProcFS()) else {
      throw SystemError(call: "finding our cgroup", errno: ENOENT)
    }
    let number = Self.made.add(1, ordering: .relaxed).newValue
    group = own.child("taskschedd-test-\(getpid())-\(number)")
    try group.create()
  }

  deinit {
    guard let watch = try? group.watchEvents() else { return }
    try? group.thaw()
    try? group.kill()
    while let events = try? ControlGroup.events(of: watch.rawValue), events.isPopulated,
      (try? waitFor(POLLPRI, on: watch.rawValue)) != nil
    {}
    try? group.remove()
  }
}

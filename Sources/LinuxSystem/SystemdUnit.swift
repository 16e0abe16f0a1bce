/// The systemd unit that a process belongs to, by its control group (systemd's
/// src/basic/cgroup-util.c, cg_path_get_unit and cg_path_get_user_unit).
public struct SystemdUnit: Hashable, Sendable {
  /// The unit of the system's manager: a service or a scope. For a process of a user's manager,
  /// this is the manager's own unit: `user@1000.service`.
  public let name: String
  /// The unit of the user's manager; nil if the system's manager runs the process.
  public let userName: String?

  /// The name of the unit in the manager that runs the process: the user's manager, or else the
  /// system's manager.
  public var ownName: String { userName ?? name }

  /// logind's id of the login session, if the unit is the scope of a session; nil for any other
  /// unit.
  public var loginSession: String? {
    guard name.hasPrefix("session-"), name.hasSuffix(".scope") else { return nil }
    return String(name.dropFirst("session-".count).dropLast(".scope".count))
  }

  /// - Parameter cgroup: the path of the control group from the hierarchy's root.
  /// - Returns: nil if the control group does not belong to a unit.
  public init?(cgroup: String) {
    var parts = cgroup.split(separator: "/")[...]
    func next() -> String? {
      while let part = parts.popFirst() {
        // systemd puts a _ before a name that could be one of the kernel's files.
        let name = part.hasPrefix("_") ? part.dropFirst() : part
        if name.hasSuffix(".slice") { continue }
        return Self.isUnit(name) ? String(name) : nil
      }
      return nil
    }
    guard let name = next() else { return nil }
    self.name = name
    userName = name.hasPrefix("user@") ? next() : nil
  }

  private static func isUnit(_ name: Substring) -> Bool {
    [".service", ".scope", ".socket", ".mount", ".swap"].contains { name.hasSuffix($0) }
  }
}

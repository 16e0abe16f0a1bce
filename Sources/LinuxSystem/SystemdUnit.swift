/// The systemd unit that a process belongs to, as its control group tells (systemd's
/// src/basic/cgroup-util.c, cg_path_get_unit and cg_path_get_user_unit).
public struct SystemdUnit: Hashable, Sendable {
  /// The unit of the system's manager: a service or a scope. For what a user's manager runs, that
  /// manager's own: `user@1000.service`.
  public let name: String
  /// The unit of the user's manager, where that runs it.
  public let userName: String?

  /// The name that operators know it by: that of the nearest manager.
  public var ownName: String { userName ?? name }

  /// - Parameter cgroup: the path of the control group from the hierarchy's root.
  /// - Returns: nil where no unit of the path's names is a service or a scope.
  public init?(cgroup: String) {
    var parts = cgroup.split(separator: "/")[...]
    func next() -> String? {
      while let part = parts.popFirst() {
        // A name that the kernel could take for one of its files is written with a _ before it.
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

import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The group of the operators (`operator-group`, contract §16). An administrator can create, remove
/// or renumber the group while the daemon runs.
///
/// The daemon asks the name services only at its start and at each reload, because a slow name
/// service would block all clients. Between these times, it reads only the file of groups, whenever
/// the file has changed.
final class OperatorGroup {
  /// The properties that identify a version of the file of groups. `groupadd` replaces the file, so
  /// the inode is one of them.
  private struct FileState: Equatable {
    var inode: UInt64
    var changedAt: (seconds: Int, nanoseconds: Int)

    init?(path: String) {
      var facts = stat()
      guard stat(path, &facts) == 0 else { return nil }
      inode = UInt64(facts.st_ino)
      changedAt = (facts.st_ctim.tv_sec, facts.st_ctim.tv_nsec)
    }

    static func == (one: Self, other: Self) -> Bool {
      one.inode == other.inode && one.changedAt == other.changedAt
    }
  }

  let name: String
  private let path: String
  private var gid: UInt32?
  /// Whether the file contains the group. If not, another name service may contain it.
  private var isInFile: Bool
  private var state: FileState?

  /// - Parameters:
  ///   - name: The name of the group; empty for no group.
  ///   - path: The file of groups (group(5)).
  init(named name: String, path: String = "/etc/group") {
    self.name = name
    self.path = path
    state = FileState(path: path)
    let listed = name.isEmpty ? nil : Users.group(named: name, inFile: path)
    isInFile = listed != nil
    gid = listed ?? (name.isEmpty ? nil : (try? Users.group(named: name)) ?? nil)
  }

  /// The id of the group; nil if the group does not exist.
  var current: UInt32? {
    refresh()
    return gid
  }

  /// Reads the file again if it has changed.
  ///
  /// - Returns: Whether the id of the group has changed.
  @discardableResult
  func refresh() -> Bool {
    guard !name.isEmpty else { return false }
    let now = FileState(path: path)
    guard now != state else { return false }
    state = now
    let before = gid
    let listed = Users.group(named: name, inFile: path)
    if listed != nil || isInFile { gid = listed }
    isInFile = listed != nil
    return gid != before
  }
}

extension Configuration {
  /// Returns a warning for each setting that is valid but probably not intended.
  ///
  /// - Parameter scope: The kind of daemon. On a user's daemon, the operators' group has no effect,
  ///   because only this user connects to the daemon.
  public func warnings(scope: ConfigurationPaths.Scope) -> [ConfigurationProblem] {
    warnings(
      scope: scope, hasGroup: OperatorGroup(named: options.operatorGroup).current != nil)
  }

  func warnings(
    scope: ConfigurationPaths.Scope, hasGroup: Bool
  ) -> [ConfigurationProblem] {
    let name = options.operatorGroup
    guard scope == .system, !name.isEmpty, !hasGroup else { return [] }
    let key = "operator-group"
    let message =
      "there is no group \(quoted(name)) on this machine, so only root may operate other users' "
        + "applications; create it (groupadd --system \(name)), or write \"\" for none"
    switch sources[key] ?? .builtIn {
    case .file(let path, let line):
      return [ConfigurationProblem(file: path, line: line, key: key, message: message)]
    case .builtIn:
      return [ConfigurationProblem(file: "default", key: key, message: message)]
    }
  }
}

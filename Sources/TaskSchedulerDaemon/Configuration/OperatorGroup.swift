import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The group whose members are operators (`operator-group`, contract §16), which may be created,
/// removed or renumbered while the daemon runs.
///
/// When the setting is read, the name services are asked. Afterwards the file of groups alone is
/// read, and only when it has changed: a name service may keep its callers waiting, and with them
/// everybody whom the daemon serves. Of a change in another name service the daemon hears when it
/// is reloaded.
final class OperatorGroup {
  /// What tells whether a file was changed: `groupadd` puts another in its place.
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
  /// Whether the file has it, rather than another name service.
  private var isInFile: Bool
  private var state: FileState?

  /// - Parameters:
  ///   - name: empty for none.
  ///   - path: the file of groups (group(5)).
  init(named name: String, path: String = "/etc/group") {
    self.name = name
    self.path = path
    state = FileState(path: path)
    let listed = name.isEmpty ? nil : Users.group(named: name, inFile: path)
    isInFile = listed != nil
    gid = listed ?? (name.isEmpty ? nil : (try? Users.group(named: name)) ?? nil)
  }

  /// Its id now; nil where there is no such group.
  var current: UInt32? {
    refresh()
    return gid
  }

  /// Looks at the file again where that was changed.
  ///
  /// - Returns: whether the group is another now.
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
  /// What is no mistake, and probably not meant, told as mistakes are.
  ///
  /// - Parameter scope: to a user's own daemon that user alone connects: its group does not matter.
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
      "there is no group \(quoted(name)) on this machine, so that only root operates other users' "
      + "applications; create it (groupadd --system \(name)), or write \"\" for none"
    switch sources[key] ?? .builtIn {
    case .file(let path, let line):
      return [ConfigurationProblem(file: path, line: line, key: key, message: message)]
    case .builtIn:
      return [ConfigurationProblem(file: "default", key: key, message: message)]
    }
  }
}

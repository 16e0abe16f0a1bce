import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The control groups of launched instances: below the daemon's own, or those of their units.
///
/// One below the daemon's own is named `APPLICATION.PID-INSTANCE`, by the daemon's pid: instances
/// are counted anew by each daemon. A daemon that was killed leaves groups behind, and a later one
/// may bear its pid.
struct InstanceGroups {
  /// The daemon's own group, or the slice of the units.
  let parent: ControlGroup
  /// Whether systemd makes and removes them.
  let areUnits: Bool

  /// - Parameter own: the daemon's control group.
  /// - Returns: nil where it is not delegated to us, or shared with other processes: then it was
  ///   not made for us by a service manager, but is a session's.
  init?(below own: ControlGroup) {
    let processes = try? own.processes(recursively: false)
    guard own.isDelegated, processes == [getpid()] else { return nil }
    parent = own
    areUnits = false
  }

  /// Those of the units in a slice (see ``InstanceUnits``).
  init(ofUnitsIn slice: ControlGroup) {
    parent = slice
    areUnits = true
  }

  /// Whether the group of an instance is a unit's, and so not ours to remove.
  static func isUnit(_ group: ControlGroup) -> Bool {
    InstanceUnits.isInstance(group.name)
  }

  /// Makes the group of an instance; where one of that name is left over, under the next free name.
  func make(
    for application: ApplicationID, _ id: InstanceID
  ) throws(SystemError) -> ControlGroup {
    let name = "\(application.name).\(getpid())-\(id.number)"
    var attempt = 1
    while true {
      let group = parent.child(attempt == 1 ? name : "\(name)-\(attempt)")
      do throws(SystemError) {
        try group.create()
        return group
      } catch {
        guard error.errno == EEXIST else { throw error }
      }
      attempt += 1
    }
  }

  /// Sees to what a daemon before us has left: processes that it had suspended run again, for no
  /// daemon manages them any more; groups without processes are removed.
  ///
  /// - Returns: the names of those that still have processes, and what went wrong: one that fails
  ///   keeps no other from being resumed.
  ///
  /// - Parameters:
  ///   - held: the paths of groups that were taken over.
  ///   - relaunched: instances that are launched again: what ran of them for an instant is killed.
  func releaseLeftovers(
    in proc: ProcFS, held: Set<String>, relaunched: Set<InstanceID>
  ) throws(SystemError) -> (inUse: [String], failures: [SystemError]) {
    var inUse: [String] = []
    var failures: [SystemError] = []
    for group in try parent.children()
    where !held.contains(group.path)
      && (areUnits ? Self.isUnit(group) : Self.isInstance(group.name))
    {
      do throws(SystemError) {
        if relaunched.contains(where: { Self.isGroup(group.name, of: $0) }) {
          try group.kill()
        } else if try group.isPopulated() {
          inUse.append(group.name)
          try group.thaw()
          try Self.continueAll(of: group, in: proc)
        } else if !areUnits {
          try group.remove()
        }
      } catch {
        failures.append(error)
      }
    }
    return (inUse.sorted(), failures)
  }

  /// Resumes all processes of a group that a daemon created. Only a daemon stops them.
  private static func continueAll(of group: ControlGroup, in proc: ProcFS) throws(SystemError) {
    for pid in try group.processes() where pid > 0 {
      // Between the look and here, its number may have become another's: it must be in the group
      // while we hold it.
      guard let process = try PIDFD.open(pid),
        try ControlGroup.of(pid, in: proc).map({ $0.path }).map({
          $0 == group.path || $0.hasPrefix(group.path + "/")
        }) == true
      else { continue }
      _ = try process.send(signal: SIGCONT)
    }
  }

  /// Whether `make` gives such names to the groups of an instance, or systemd to its unit's.
  static func isGroup(_ name: String, of id: InstanceID) -> Bool {
    if let instance = InstanceUnits.instance(of: name) { return instance == id }
    guard isInstance(name), let dot = name.lastIndex(of: ".") else { return false }
    let numbers = name[name.index(after: dot)...].split(separator: "-")
    return numbers.count > 1 && UInt64(numbers[1]) == id.number
  }

  /// Whether `make` gives such names.
  static func isInstance(_ name: String) -> Bool {
    guard let dot = name.lastIndex(of: ".") else { return false }
    let numbers = name[name.index(after: dot)...].split(
      separator: "-", omittingEmptySubsequences: false)
    return (2...3).contains(numbers.count) && numbers.allSatisfy { UInt64($0) != nil }
      && ApplicationID(String(name[..<dot])) != nil
  }
}

import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The control groups of launched instances. They are below the daemon's own group, or belong to
/// the instances' units.
///
/// The name of a group below the daemon's own is `APPLICATION.PID-INSTANCE`, with the daemon's pid.
/// The name alone does not identify an instance: if a daemon has lost its event log, it numbers
/// instances from 1 again, and it may have the pid of an earlier daemon.
struct InstanceGroups {
  /// The daemon's own group, or the slice of the units.
  let parent: ControlGroup
  /// Whether systemd creates and removes the groups.
  let areUnits: Bool

  /// - Parameter own: The daemon's control group.
  /// - Returns: nil if the daemon must not create groups below its own: systemd has not delegated
  ///   this group to the daemon, or the group contains other processes, like the group of a login
  ///   session.
  init?(below own: ControlGroup) {
    let processes = try? own.processes(recursively: false)
    guard own.isDelegated, processes == [getpid()] else { return nil }
    parent = own
    areUnits = false
  }

  /// Refers to the groups of the units in a slice (see ``InstanceUnits``). systemd creates and
  /// removes these groups.
  init(ofUnitsIn slice: ControlGroup) {
    parent = slice
    areUnits = true
  }

  /// Returns whether a group belongs to a unit. The daemon must not remove such a group.
  static func isUnit(_ group: ControlGroup) -> Bool {
    InstanceUnits.isInstance(group.name)
  }

  /// Creates the group of an instance. If the name is taken, uses the next free name.
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

  /// Releases the groups of earlier daemons. Resumes the processes that those daemons suspended,
  /// because no daemon manages these processes any more. Removes groups without processes, unless
  /// they belong to units.
  ///
  /// - Parameters:
  ///   - held: The paths of groups that this daemon took over, or in which it is starting programs.
  ///     The function skips these groups.
  ///   - relaunched: Instances whose launch this daemon repeats. The function kills the remaining
  ///     processes of these instances.
  /// - Returns: The names of the groups that still have processes, and the failures. A failure in
  ///   one group does not stop the release of others.
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

  /// Resumes all processes of an instance's group. The function assumes that only daemons stop
  /// processes in such a group.
  private static func continueAll(of group: ControlGroup, in proc: ProcFS) throws(SystemError) {
    for pid in try group.processes() where pid > 0 {
      // The kernel may have reused the pid since it was read. The daemon therefore opens a pidfd
      // first, and then checks that the process is in the group.
      guard let process = try PIDFD.open(pid),
        try ControlGroup.of(pid, in: proc).map({ $0.path }).map({
          $0 == group.path || $0.hasPrefix(group.path + "/")
        }) == true
      else { continue }
      _ = try process.send(signal: SIGCONT)
    }
  }

  /// Returns whether a group with this name belongs to the instance. The name comes from
  /// ``make(for:_:)`` or is the name of a unit.
  static func isGroup(_ name: String, of id: InstanceID) -> Bool {
    if let instance = InstanceUnits.instance(of: name) { return instance == id }
    guard isInstance(name), let dot = name.lastIndex(of: ".") else { return false }
    let numbers = name[name.index(after: dot)...].split(separator: "-")
    return numbers.count > 1 && UInt64(numbers[1]) == id.number
  }

  /// Returns whether a name has the form of the names that `make` creates.
  static func isInstance(_ name: String) -> Bool {
    guard let dot = name.lastIndex(of: ".") else { return false }
    let numbers = name[name.index(after: dot)...].split(
      separator: "-", omittingEmptySubsequences: false)
    return (2...3).contains(numbers.count) && numbers.allSatisfy { UInt64($0) != nil }
      && ApplicationID(String(name[..<dot])) != nil
  }
}

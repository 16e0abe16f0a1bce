import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The reason why the daemon does not adopt a program, as a clause about the program.
struct AdoptionRefusal: Error {
  let reason: String
  init(_ reason: String) { self.reason = reason }
}

/// A program that the daemon examines, in steps, before it adopts the program. A step examines one
/// process.
struct AdoptionCandidate {
  /// The maximum number of processes of a program that the daemon adopts.
  private static let processesMax = 4096

  let appID: String
  let uid: UInt32
  /// The control group of the application's systemd unit, if a desktop has created one.
  let group: ControlGroup?
  let leader: ProcessHandle
  private let terminal: TerminalDevice?
  private let membership: InstanceMembership
  private let settings: AdoptionSettings
  private var queue: [Int32]
  private var seen: Set<Int32> = []
  private(set) var members: [ProcessIdentity] = []

  /// - Parameter window: The process that has the window.
  /// - Returns: nil if the process has ended.
  init?(
    _ window: ProcessIdentity, appID: String, uid: UInt32, _ settings: AdoptionSettings,
    _ membership: InstanceMembership
  ) throws {
    self.appID = appID
    self.uid = uid
    self.settings = settings
    self.membership = membership
    let proc = membership.proc
    guard let process = try ProcessHandle(window, in: proc),
      let details = try proc.details(window.pid), try !process.pidfd.hasEnded()
    else { return nil }
    guard details.uids.real == uid, details.uids.effective == uid else {
      throw AdoptionRefusal("process \(window.pid) does not run as user \(uid)")
    }
    let group = try ControlGroup.desktopUnit(of: window.pid, in: proc)
    if let group, group.name.hasPrefix("app-taskschedd-") {
      throw AdoptionRefusal("a daemon has launched it")
    }
    self.group = group
    let top = try group.map {
      (group) throws(SystemError) in try group.top(of: window, in: proc)
    } ?? window
    guard let leader = try top == window ? process : ProcessHandle(top, in: proc),
      let stat = try proc.stat(top.pid), stat.identity == top
    else { return nil }
    self.leader = leader
    terminal = stat.terminal
    queue = try group?.processes().reversed() ?? [top.pid]
    if try Self.hasMarker(top.pid, in: proc) || Self.hasMarker(window.pid, in: proc) {
      throw AdoptionRefusal("a daemon has launched it")
    }
  }

  /// Returns whether the environment of a process names an instance of a daemon.
  private static func hasMarker(_ pid: Int32, in proc: ProcFS) throws(SystemError) -> Bool {
    try proc.environmentValue(pid, of: InstanceMembership.markerName) != nil
  }

  /// Examines the next process. Returns whether more processes remain.
  mutating func step() throws -> Bool {
    guard let pid = queue.popLast() else { return false }
    guard seen.insert(pid).inserted, let stat = try membership.proc.stat(pid), !stat.hasEnded
    else { return !queue.isEmpty }
    if membership.isOurs(stat.identity) {
      throw AdoptionRefusal("the daemon itself descends from process \(pid)")
    }
    if AdoptionRules.isNever(command: stat.command, settings) {
      throw AdoptionRefusal("process \(pid) is \(PrintableText.quoted(stat.command))")
    }
    // The programs that a terminal emulator runs have a different controlling terminal than the
    // emulator itself.
    if let other = stat.terminal, other != terminal {
      throw AdoptionRefusal("it is a terminal: process \(pid) runs at \(other.name)")
    }
    if membership.instance(ledBy: stat.identity) != nil {
      throw AdoptionRefusal("process \(pid) is the main process of another application")
    }
    members.append(stat.identity)
    guard members.count <= Self.processesMax else {
      throw AdoptionRefusal("it has more than \(Self.processesMax) processes")
    }
    if group == nil { queue += try membership.proc.children(of: stat) ?? [] }
    return !queue.isEmpty
  }
}

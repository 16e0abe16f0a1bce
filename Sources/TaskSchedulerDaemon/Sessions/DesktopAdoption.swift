import LinuxSystem
import TaskSchedulerCore

/// Begins to manage a program when its first window appears, if the settings choose the program
/// (contract §20).
///
/// Before the daemon adopts a program, it examines all processes of the program. It does not adopt
/// a program that the session or the user needs while its windows are hidden: a part of the
/// desktop, a terminal, or a program that is connected to an audio server. The event loop examines
/// the processes in steps, and a thread examines their descriptors.
final class DesktopAdoption {
  /// The parts of the daemon that an adoption needs.
  struct Environment {
    /// Returns the reason why the daemon cannot manage a process; nil if it can.
    var refusal: (ProcessHandle, UInt32) throws -> String?
    /// Returns the seat of a user's programs with windows.
    var seat: (UInt32) -> SeatID
    /// Returns whether an application runs or is being launched.
    var isRunning: (ApplicationKey) -> Bool
    /// Passes an adoption to the scheduler.
    var adopt: (Adoption) -> Void
    var socketPath: String
  }

  private let processes: ProcessController
  private let launches: Launches
  /// Returns whether a process is a session agent or an ancestor of one.
  private let isNeeded: (ProcessIdentity) throws -> Bool
  private let environment: Environment
  private let log: Log

  private var membership: InstanceMembership { processes.membership }
  private var settings: AdoptionSettings { processes.options.adoption }

  init(
    processes: ProcessController, launches: Launches, environment: Environment, log: Log,
    isNeeded: @escaping (ProcessIdentity) throws -> Bool
  ) {
    self.processes = processes
    self.launches = launches
    self.environment = environment
    self.log = log
    self.isNeeded = isNeeded
  }

  /// Returns whether the settings choose the program of a window.
  func chooses(_ window: ReportedProcessWindow) -> Bool {
    guard let appID = window.applicationID else { return false }
    return settings.chooses(appID) && !AdoptionRules.isNever(appID: appID, settings)
  }

  /// Examines the program of a window that belongs to no application, and then adopts or refuses
  /// the program.
  ///
  /// - Parameter visibility: Returns the visibility of the windows of the process; nil once the
  ///   process has no window.
  func consider(
    _ window: ReportedProcessWindow, of uid: UInt32,
    visibility: @escaping (ProcessIdentity) -> WindowVisibility?
  ) {
    let appID = window.applicationID ?? ""
    var candidate: AdoptionCandidate?
    processes.steps.begin(.later, user: uid) { [weak self] in
      guard let self else { return false }
      do {
        if candidate == nil { candidate = try begin(window.process, appID, uid) }
        guard try candidate?.step() == true else {
          if let candidate {
            examineConnections(candidate) { visibility(window.process) }
          }
          return false
        }
        return true
      } catch {
        refuse(window.process.pid, appID, error)
        return false
      }
    }
  }

  private func begin(
    _ window: ProcessIdentity, _ appID: String, _ uid: UInt32
  ) throws -> AdoptionCandidate? {
    guard
      let candidate = try AdoptionCandidate(window, appID: appID, uid: uid, settings, membership)
    else { return nil }
    let leader = candidate.leader
    if let reason = try environment.refusal(leader, uid) { throw AdoptionRefusal(reason) }
    if try isNeeded(leader.identity) {
      throw AdoptionRefusal(SessionAgents.refusal(of: leader.identity.pid))
    }
    return candidate
  }

  /// Examines the descriptors of the program on a thread, and then adopts or refuses the program.
  private func examineConnections(
    _ candidate: AdoptionCandidate, visibility: @escaping () -> WindowVisibility?
  ) {
    var scan = DescriptorScan(of: candidate.members)
    let socketPath = environment.socketPath
    scan.isServer = {
      AdoptionRules.isAudio($0) || AdoptionRules.isDaemon($0, own: socketPath)
    }
    _ = processes.descriptorScans.request(scan, user: candidate.uid) { [weak self] findings in
      guard let self else { return }
      do {
        try checkConnections(findings)
        guard let visibility = visibility() else { return }
        try adopt(candidate, visibility)
      } catch {
        refuse(candidate.leader.identity.pid, candidate.appID, error)
      }
    }
  }

  private func checkConnections(_ findings: DescriptorScan.Findings) throws(AdoptionRefusal) {
    if let audio = findings.servers.first(where: { AdoptionRules.isAudio($0) }) {
      throw AdoptionRefusal(AdoptionRules.audioReason(audio))
    }
    if let daemon = findings.servers.first {
      throw AdoptionRefusal("it is connected to taskschedd at \(PrintableText.quoted(daemon))")
    }
    guard findings.hasAllServers else {
      throw AdoptionRefusal("the daemon cannot examine all its connections")
    }
  }

  private func adopt(_ candidate: AdoptionCandidate, _ visibility: WindowVisibility) throws {
    let (process, uid) = (candidate.leader, candidate.uid)
    guard let id = AdoptionRules.application(for: candidate.appID) else {
      throw AdoptionRefusal("its app id is empty")
    }
    guard try !process.pidfd.hasEnded(),
      try membership.instance(of: process.identity, uid: uid) == nil
    else { return }
    let key = ApplicationKey(id, owner: UserID(uid))
    if environment.isRunning(key) {
      throw AdoptionRefusal("another process is already managed as \(id.name)")
    }
    let origin = InstanceProcesses.Origin(group: candidate.group, isFromWindow: true)
    let leader = launches.expect(.init(process: process, uid: uid, origin: origin))
    environment.adopt(
      Adoption(
        application: key, leader: leader,
        target: visibility == .focused ? .foreground : .background, seat: environment.seat(uid),
        reason: .user))
  }

  private func refuse(_ pid: Int32, _ appID: String, _ error: any Error) {
    let reason = (error as? AdoptionRefusal)?.reason ?? "\(error)"
    log.write(
      .info, "not adopting \(PrintableText.quoted(appID)), process \(pid), although the setting "
        + "focus.adopt includes it: \(reason)")
  }
}

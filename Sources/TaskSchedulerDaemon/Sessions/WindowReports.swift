import LinuxSystem
import TaskSchedulerCore

// How the daemon finds the instance of each window of a session (contract §20).
//
// The problem: a session agent reports the processes of up to 1024 windows after each change of the
// focus. The scheduler needs the instances to which the windows belong. To find the instance of a
// process, the daemon reads several files of /proc. To find the terminal of an instance, it reads
// the ancestors of the leader. The daemon must not spend more than a few milliseconds on one
// report.
//
// The idea: the daemon remembers the result for each process of the last report, and the ancestors
// of each leader. A report mostly names processes that the previous report named. The daemon
// examines the other processes in steps (`ProcessWorkQueue`). After the last step, it reports the
// windows to the scheduler. If a new report arrives during the steps, it replaces the earlier
// report, and the daemon keeps the results that it already has.
//
// Why this is right: a report contains all windows, so the last report is sufficient. If a process
// belongs to no instance, the daemon examines it again after an instance has been added. If the
// process with a reported pid has another start time, the window belongs to no instance
// (`ReportedProcesses`). `SessionService` has checked the message and its sender.

/// Finds the instances of the windows that session agents report, and reports the windows with
/// their instances to the scheduler.
final class WindowReports {
  private let processes: ProcessController
  private let inFront: ([InstanceID]) -> [InstanceID]
  private let focusMoved: (UInt32) -> Void
  private let post: (Event) -> Void
  private var sessions: [UInt32: SessionWindows] = [:]
  /// Adopts programs whose windows belong to no application; nil while the daemon starts.
  var adoption: DesktopAdoption?

  private var membership: InstanceMembership { processes.membership }

  /// - Parameters:
  ///   - inFront: Returns those of the given instances that are in front at their seats.
  ///   - focusMoved: Called with the user if the focus has moved to another instance since the last
  ///     report.
  init(
    processes: ProcessController, inFront: @escaping ([InstanceID]) -> [InstanceID],
    focusMoved: @escaping (UInt32) -> Void, post: @escaping (Event) -> Void
  ) {
    self.processes = processes
    self.inFront = inFront
    self.focusMoved = focusMoved
    self.post = post
    membership.observe { [weak self] in self?.instanceAdded($0) }
  }

  /// Handles a report of all windows of a user's session.
  func report(_ windows: [ReportedProcessWindow], hasFocus: Bool, of uid: UInt32) {
    let session = sessions[uid] ?? SessionWindows()
    sessions[uid] = session
    session.take(windows, hasFocus: hasFocus)
    resolve(session, of: uid, atOnce: true)
  }

  /// Discards the report of a user, because the agent or its compositor has ended.
  func lose(_ uid: UInt32) {
    guard let session = sessions.removeValue(forKey: uid) else { return }
    session.work?.cancel()
    if session.isReporting { post(.session(.agentLost(UserID(uid)))) }
  }

  /// Records that the scheduler knows the windows of a user from an earlier daemon.
  func restore(_ uid: UInt32) {
    let session = SessionWindows()
    session.isReporting = true
    sessions[uid] = session
  }

  /// Examines the windows of the last report again. A window may belong to the new instance.
  private func instanceAdded(_ instance: InstanceProcesses) {
    guard let session = sessions[instance.uid], session.hasReport else { return }
    resolve(session, of: instance.uid, atOnce: false)
  }

  // MARK: Steps

  /// Finds the instances of the last report, and reports them to the scheduler.
  ///
  /// - Parameter atOnce: Whether to perform the first steps before this call returns. If there are
  ///   few windows, the scheduler then receives the report before this call returns.
  private func resolve(_ session: SessionWindows, of uid: UInt32, atOnce: Bool) {
    session.processes.begin(in: membership)
    session.pendingLeaders = unknownLeaders(session, of: uid)
    guard session.work?.isUnderWay != true else { return }
    if !session.isPending { return finish(session, of: uid) }
    session.work = processes.steps.begin(.first, user: uid, atOnce: atOnce) {
      [weak self, weak session] in
      guard let self, let session else { return false }
      if examineNext(session, of: uid) { return true }
      finish(session, of: uid)
      return false
    }
  }

  /// Returns the user's instances for which the ancestors of the leader are not known.
  private func unknownLeaders(_ session: SessionWindows, of uid: UInt32) -> [InstanceProcesses] {
    processes.instances.values.filter { $0.uid == uid && session.ancestors[$0.id] == nil }
  }

  /// Examines a process. Returns whether more processes remain.
  private func examineNext(_ session: SessionWindows, of uid: UInt32) -> Bool {
    if session.processes.isPending {
      session.processes.examineNext(of: uid, in: membership)
    } else if let instance = session.pendingLeaders.popLast() {
      session.ancestors[instance.id] = (try? terminalAncestors(of: instance)) ?? []
    }
    return session.isPending
  }

  /// Returns the ancestors of a leader that has a terminal. One of them may be the terminal
  /// emulator, in whose window the instance appears. Returns none for a leader without a terminal.
  private func terminalAncestors(
    of instance: InstanceProcesses
  ) throws(SystemError) -> [ProcessIdentity] {
    let leader = instance.leader.identity
    guard let stat = try membership.proc.stat(leader.pid), stat.identity == leader,
      stat.terminal != nil
    else { return [] }
    return try membership.proc.ancestors(leader.pid)
  }

  // MARK: The report to the scheduler

  private func finish(_ session: SessionWindows, of uid: UInt32) {
    report(session, of: uid)
    adopt(session, of: uid)
  }

  /// For each window that belongs to no application, considers whether to adopt its program.
  private func adopt(_ session: SessionWindows, of uid: UInt32) {
    guard let adoption else { return }
    for window in session.takeUnconsidered(where: adoption.chooses) {
      adoption.consider(window, of: uid) { [weak session] in session?.visibilityByProcess()[$0] }
    }
  }

  private func report(_ session: SessionWindows, of uid: UInt32) {
    let snapshot = snapshot(session, of: uid)
    guard session.last != snapshot || !session.isReporting else { return }
    if let last = session.last, !snapshot.focused.isSubset(of: last.focused) { focusMoved(uid) }
    session.last = snapshot
    if !session.isReporting {
      session.isReporting = true
      post(.session(.agentAttached(UserID(uid))))
    }
    post(.session(.windows(UserID(uid), snapshot)))
  }

  private func snapshot(_ session: SessionWindows, of uid: UInt32) -> WindowSnapshot {
    let running = Set(processes.instances.values.lazy.filter { $0.uid == uid }.map(\.id))
    session.forgetEnded(except: running)
    var visibilities = session.ownWindows()
    // An instance that never had a window of its own appears in the window of its terminal.
    let shown = session.visibilityByProcess()
    var atTerminals: [InstanceID: WindowVisibility] = [:]
    for id in running where !session.hadWindow.contains(id) {
      let terminal = session.ancestors[id]?.lazy.compactMap { shown[$0] }.first
      if let terminal { atTerminals[id] = terminal }
    }
    for id in inFront(atTerminals.sortedKeys) { visibilities[id] = atTerminals[id] }
    let reports = visibilities.sortedKeys.compactMap { id in
      visibilities[id].map { WindowReport(id, $0) }
    }
    return WindowSnapshot(reports, hasFocus: session.hasFocus)
  }
}

extension WindowSnapshot {
  /// The instances whose window has the focus.
  fileprivate var focused: Set<InstanceID> {
    Set(windows.lazy.filter { $0.visibility == .focused }.map(\.instance))
  }
}

import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire

/// A comparison of the daemon's answers and of the processes' states with the core.
final class Inspection {
  private let daemon: DaemonFixture
  private let model: CoreModel
  private(set) var facts = Facts()

  /// The number of comparisons with the core, and the numbers of stopped and running processes that
  /// they found.
  struct Facts {
    var compared = 0
    var stopped = 0
    var running = 0
  }

  init(_ daemon: DaemonFixture, _ model: CoreModel) {
    self.daemon = daemon
    self.model = model
  }

  /// Compares once. Throws ``PredictionMismatch`` if the daemon or a process differs from the core.
  ///
  /// - Parameter leaders: the processes to inspect, with all members of the groups that they lead.
  func compare(_ leaders: [Leader]) throws {
    try model.refresh()
    let begin = Instant(nanoseconds: BootClock.now())
    let shown = try daemon.applications()
    let end = Instant(nanoseconds: BootClock.now())
    // Events may have occurred while the daemon answered. Its answer must match the state before or
    // after one of them.
    let states = try model.refresh().map(\.0)
    guard states.contains(where: { isLike($0, shown, from: begin, to: end) }) else {
      let core = states.map { "\(Self.text($0.statuses(at: end)))" }.joined(separator: "\n or ")
      throw PredictionMismatch("the daemon shows\n    \(Self.text(shown))\nthe core\n    \(core)")
    }
    facts.compared += 1
    // If no event occurred, the daemon had carried out all effects before it answered, so the
    // processes must match the core.
    if states.count == 1 { try look(at: leaders) }
  }

  private func look(at leaders: [Leader]) throws {
    let eventCount = model.eventCount
    var stopped = 0, running = 0
    var problems: [String] = []
    let known = leaders.compactMap { leader in model.status(leader).map { (leader, $0) } }
    let stats = try daemon.proc.pids().compactMap { try daemon.proc.stat($0) }
    for (leader, (state, status)) in known where status.ending == nil && !status.isSuspending {
      // Each leader leads a process group, which contains all processes of its instance.
      for stat in stats where stat.processGroup == leader.pid && !stat.state.hasEnded {
        let isStopped = stat.state == .stopped
        if isStopped { stopped += 1 } else { running += 1 }
        if isStopped != (state == .suspended) {
          problems.append("process \(stat.pid) is \(stat.state), and its instance \(state)")
        }
      }
    }
    try model.refresh()
    guard model.eventCount == eventCount else { return }
    facts.stopped += stopped
    facts.running += running
    guard problems.isEmpty else { throw PredictionMismatch(problems.joined(separator: "; ")) }
  }

  // MARK: Comparison with the daemon's reports

  private func isLike(
    _ scheduler: Scheduler, _ shown: [ControlInterface.Application], from begin: Instant,
    to end: Instant
  ) -> Bool {
    let first = scheduler.statuses(at: begin), last = scheduler.statuses(at: end)
    guard Self.text(first) == Self.text(shown) else { return false }
    return zip(shown, zip(first, last)).allSatisfy { shown, core in
      guard let instance = shown.instance else { return true }
      let entitlements = instance.entitlements.map(\.rawValue)
      guard
        [core.0, core.1].contains(where: {
          $0.instance?.entitlements.map(\.rawValue) == entitlements
        })
      else { return false }
      switch (instance.backgroundTimeRemainingUSec, core.0.instance?.timeRemaining) {
      case (nil, nil): return true
      case (let shown?, let most?):
        guard let least = core.1.instance?.timeRemaining else { return false }
        return (Self.microseconds(least)...Self.microseconds(most)).contains(shown)
      case _: return false
      }
    }
  }

  private static func microseconds(_ duration: Duration) -> Int {
    let (seconds, attoseconds) = duration.components
    return Int(seconds) * 1_000_000 + Int(attoseconds / 1_000_000_000_000)
  }

  private static func microseconds(_ instant: Instant) -> Int { Int(instant.nanoseconds / 1000) }

  /// Returns one line for each application, without the values that depend on the current time.
  private static func text(_ applications: [ControlInterface.Application]) -> String {
    applications.map { application in
      let instance = application.instance.map { instance in
        let tasks = instance.tasks.map {
          "\($0.id) \($0.name ?? "-") \($0.beganAtUSec) \($0.expired)"
        }
        return "\(instance.id) \(instance.pid)@\(instance.startTime) aware \(instance.aware)"
          + " \(instance.launchReason.rawValue) \(instance.startedAtUSec)"
          + " ending \(instance.ending?.rawValue ?? "-") suspending \(instance.suspending)"
          + " callbacks \(instance.callbacksPending) tasks \(tasks)"
      }
      let end = application.lastEnd.map {
        "\($0.reason.rawValue) \($0.code ?? -1) \($0.signal ?? -1) \($0.atUSec)"
      }
      return "\(application.application) \(application.owner) \(application.state.rawValue)"
        + " \(application.stateSinceUSec) seat \(application.seat) \(application.backgroundModes)"
        + " \(application.multitasking) \(application.launchable)"
        + " place \(application.switcherPosition ?? 0) instance \(instance ?? "-")"
        + " end \(end ?? "-")"
    }.joined(separator: "\n    ")
  }

  private static func text(_ applications: [ApplicationStatus]) -> String {
    applications.map { application in
      let instance = application.instance.map { instance in
        let tasks = instance.tasks.map {
          "\($0.id.number) \($0.name ?? "-") \(microseconds($0.beganAt)) \($0.isExpired)"
        }
        return "\(instance.id.number) \(instance.leader.pid)@\(instance.leader.startTime)"
          + " aware \(instance.isAware) \(instance.launchReason.rawValue)"
          + " \(microseconds(instance.startedAt))"
          + " ending \(instance.ending?.name ?? "-") suspending \(instance.isSuspending)"
          + " callbacks \(instance.callbacksPending) tasks \(tasks)"
      }
      return "\(application.key.id.name) \(application.key.owner.uid)"
        + " \(application.state.rawValue) \(microseconds(application.stateSince))"
        + " seat \(application.seat?.name ?? "")"
        + " \(application.backgroundModes.map(\.rawValue))"
        + " \(application.multitasking) \(application.isLaunchable)"
        + " place \(application.switcherPosition ?? 0) instance \(instance ?? "-")"
        + " end \(application.lastEnd.map(text) ?? "-")"
    }.joined(separator: "\n    ")
  }

  private static func text(_ end: End) -> String {
    var code: Int32 = -1, signal: Int32 = -1
    if case .exited(let known) = end.reason { code = known }
    if case .crashed(let known) = end.reason { signal = known }
    return "\(end.reason.name) \(code) \(signal) \(microseconds(end.at))"
  }
}

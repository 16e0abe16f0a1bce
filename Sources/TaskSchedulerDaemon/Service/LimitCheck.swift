import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Checks an application before the scheduler enforces a limit: carries out the pending calls of
/// the application, and searches for a debugger.
///
/// An application may have ended its task in time while the daemon was busy or restarted. Its call
/// is then still in the socket. The daemon reads many calls in steps, so that other clients do not
/// wait. After a maximum time it stops reading.
final class LimitCheck {
  /// The operations on connections.
  struct Connections {
    /// Accepts the waiting connections.
    var accept: () -> Void
    /// Carries out the calls that these instances of one user have made so far. Stops at the given
    /// instant, in nanoseconds since boot. Returns whether all calls were carried out.
    var carryOut: (Set<InstanceID>, UInt32, UInt64) -> Bool
    /// Returns the user of an instance; nil if the instance has ended.
    var user: (InstanceID) -> UInt32?
  }

  /// The length of a step in nanoseconds: some 50 calls. Source: this project.
  private static let stepTime: UInt64 = 2_000_000
  /// The maximum time of all steps for one instance, in nanoseconds. Only a flood of calls takes
  /// longer. Source: this project.
  private static let timeMax: UInt64 = 50_000_000
  /// The maximum time of all steps for one user, in nanoseconds. Source: this project; far below
  /// `WakeTolerance`, so that a flood of calls delays the limits of a user's applications little.
  private static let timeOfUserMax: UInt64 = 500_000_000
  private static let pause: Duration = .microseconds(500)

  /// The instances to check.
  private var waiting: Set<InstanceID> = []
  /// The time that the daemon has spent on the instances of each user.
  private var spent: [UInt32: UInt64] = [:]
  private var turn: DeferredSource?
  private var rest: TimerSource?
  private let connections: Connections
  private let isTraced: (InstanceID, @escaping (Bool) -> Void) -> Void
  private let report: (Event) -> Void

  /// - Parameters:
  ///   - isTraced: Determines whether a debugger traces any process of the instance.
  ///   - report: Receives the `tracerChecked` events.
  init(
    loop: EventLoop, connections: Connections,
    isTraced: @escaping (InstanceID, @escaping (Bool) -> Void) -> Void,
    report: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.connections = connections
    self.isTraced = isTraced
    self.report = report
    // A call of the instance may have caused this check, and the daemon must complete that call
    // first. The check therefore begins in a later iteration of the event loop.
    turn = try loop.soon { [unowned self] in answer() }
    rest = try loop.timer { [unowned self] in answer() }
  }

  /// Checks an instance, and reports the event `tracerChecked` later.
  func ask(_ id: InstanceID) {
    waiting.insert(id)
    turn?.request()
  }

  private func answer() {
    let asked = waiting
    waiting = []
    connections.accept()
    let byUser = Dictionary(grouping: asked) { connections.user($0) }
    var heard = byUser[nil] ?? []
    for (user, ids) in byUser.sorted(by: { ($0.key ?? 0) < ($1.key ?? 0) }) {
      guard let user else { continue }
      if carryOutCalls(Set(ids), of: user) { heard += ids } else { waiting.formUnion(ids) }
    }
    if !waiting.isEmpty { rest?.set(BootClock.after(Self.pause)) }
    for id in heard.sorted() {
      isTraced(id) { [weak self] in self?.report(.process(.tracerChecked(id, isTraced: $0))) }
    }
  }

  /// Carries out calls of these instances. Returns whether no call remains, or the time has
  /// expired.
  private func carryOutCalls(_ ids: Set<InstanceID>, of user: UInt32) -> Bool {
    let start = BootClock.now()
    let isWhole = connections.carryOut(ids, user, start + Self.stepTime)
    let time = (spent[user] ?? 0) + BootClock.now() - start
    let isOver = isWhole || time >= min(Self.timeMax * UInt64(ids.count), Self.timeOfUserMax)
    spent[user] = isOver ? nil : time
    return isOver
  }
}

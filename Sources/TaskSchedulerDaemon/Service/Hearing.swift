import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Before a limit is enforced, what its application has written is heard, and whether a debugger
/// holds it is seen: whoever ended its task in time has said so, though the daemon was away, or
/// busy, when it did.
///
/// An application with much to say is heard in steps, so that nobody else waits for it, and at last
/// no further.
final class Hearing {
  /// What is asked of the connections.
  struct Ears {
    /// Accepts those that wait.
    var accept: () -> Void
    /// Takes what these instances of one user have written by now, until an instant of
    /// CLOCK_BOOTTIME; returns whether that was all.
    var hear: (Set<InstanceID>, UInt32, UInt64) -> Bool
    /// Whose an instance is; nil where it has ended.
    var user: (InstanceID) -> UInt32?
  }

  /// Nanoseconds of a step. Source: this project; some 50 calls.
  private static let stepTime: UInt64 = 2_000_000
  /// Nanoseconds that are spent on hearing one instance, in steps. Source: this project; more than
  /// an application has connections and calls, but for a flood.
  private static let timeMax: UInt64 = 50_000_000
  private static let pause: Duration = .microseconds(500)

  /// Whose limits have passed.
  private var waiting: Set<InstanceID> = []
  /// What has been spent on those of a user.
  private var spent: [UInt32: UInt64] = [:]
  private var turn: DeferredSource?
  private var rest: TimerSource?
  private let ears: Ears
  private let isTraced: (InstanceID, @escaping (Bool) -> Void) -> Void
  private let report: (Event) -> Void

  /// - Parameters:
  ///   - isTraced: finds out whether a debugger traces any process of the instance.
  ///   - report: takes the answers.
  init(
    loop: EventLoop, ears: Ears, isTraced: @escaping (InstanceID, @escaping (Bool) -> Void) -> Void,
    report: @escaping (Event) -> Void
  ) throws(SystemError) {
    self.ears = ears
    self.isTraced = isTraced
    self.report = report
    // Not at once: one's call may be what made the limits be looked at.
    turn = try loop.soon { [unowned self] in answer() }
    rest = try loop.timer { [unowned self] in answer() }
  }

  /// Answers later, by `tracerChecked`.
  func ask(_ id: InstanceID) {
    waiting.insert(id)
    turn?.request()
  }

  private func answer() {
    let asked = waiting
    waiting = []
    ears.accept()
    let byUser = Dictionary(grouping: asked) { ears.user($0) }
    var heard = byUser[nil] ?? []
    for (user, ids) in byUser.sorted(by: { ($0.key ?? 0) < ($1.key ?? 0) }) {
      guard let user else { continue }
      if hear(Set(ids), of: user) { heard += ids } else { waiting.formUnion(ids) }
    }
    if !waiting.isEmpty { rest?.set(BootClock.after(Self.pause)) }
    for id in heard.sorted() {
      isTraced(id) { [weak self] in self?.report(.process(.tracerChecked(id, isTraced: $0))) }
    }
  }

  /// Returns whether no more of these is to be heard.
  private func hear(_ ids: Set<InstanceID>, of user: UInt32) -> Bool {
    let start = BootClock.now()
    let isWhole = ears.hear(ids, user, start + Self.stepTime)
    let time = (spent[user] ?? 0) + BootClock.now() - start
    let isOver = isWhole || time >= Self.timeMax * UInt64(ids.count)
    spent[user] = isOver ? nil : time
    return isOver
  }
}

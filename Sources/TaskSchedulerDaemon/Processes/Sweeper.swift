import LinuxSystem
import TaskSchedulerCore

/// Looks at all processes of the machine for those who ask, together: a look costs some
/// microseconds for each process there is, and serves any number of instances at once.
///
/// Looks take at most half of the time: after one, as long as it took must pass before the next.
final class Sweeper {
  /// The members that were found, and whether none can have been missed.
  typealias Answer = (Result<(members: [ProcessStat], isWhole: Bool), SystemError>) -> Void

  private let membership: Membership
  private let find: (InstanceID) -> InstanceProcesses?
  private var timer: TimerSource?
  private var waiting: [(instance: InstanceID, answer: Answer)] = []
  private var earliestNext: UInt64 = 0
  /// Whether those who ask wait, for more of them are to come: one look is to serve them all.
  var isPutOff = false {
    didSet { if !isPutOff, !waiting.isEmpty { schedule() } }
  }

  init(
    membership: Membership, loop: EventLoop, find: @escaping (InstanceID) -> InstanceProcesses?
  ) throws(SystemError) {
    self.membership = membership
    self.find = find
    timer = try loop.timer { [weak self] in self?.sweep() }
  }

  /// Calls `answer` with the members that are found, after this call has returned.
  func request(_ instance: InstanceID, answer: @escaping Answer) {
    waiting.append((instance, answer))
    if waiting.count == 1, !isPutOff { schedule() }
  }

  private func schedule() { timer?.set(max(earliestNext, BootClock.now())) }

  private func sweep() {
    if isPutOff { return }
    let asked = waiting
    waiting = []
    let start = BootClock.now()
    let result: Result<Membership.Sweep, SystemError>
    do throws(SystemError) {
      result = .success(try membership.sweep(asked.compactMap { find($0.instance) }))
    } catch {
      result = .failure(error)
    }
    let end = BootClock.now()
    earliestNext = end + (end - start)
    for (instance, answer) in asked {
      answer(result.map { ($0.members[instance] ?? [], $0.isWhole) })
    }
  }
}

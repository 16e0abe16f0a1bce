import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Examines all processes of the machine for several requests at once. A sweep takes some
/// microseconds for each process, and serves any number of instances.
///
/// Sweeps take at most half of the time: after a sweep, a pause of the same length follows.
final class Sweeper {
  /// The found members, and whether the sweep cannot have missed one.
  typealias Answer = (Result<(members: [ProcessStat], isWhole: Bool), SystemError>) -> Void

  private let membership: Membership
  private let steps: ProcessSteps
  private let find: (InstanceID) -> InstanceProcesses?
  private var timer: TimerSource?
  private var waiting: [(instance: InstanceID, answer: Answer)] = []
  /// The requests that the current sweep serves.
  private var asked: [(instance: InstanceID, answer: Answer)] = []
  private var sweep: MachineSweep?
  /// The duration of the current sweep, in nanoseconds.
  private var spent: UInt64 = 0
  private var earliestNext: UInt64 = 0
  /// Whether to wait for further requests that the same sweep can serve.
  var isPutOff = false {
    didSet { if !isPutOff, !waiting.isEmpty { schedule() } }
  }

  init(
    membership: Membership, steps: ProcessSteps, loop: EventLoop,
    find: @escaping (InstanceID) -> InstanceProcesses?
  ) throws(SystemError) {
    self.membership = membership
    self.steps = steps
    self.find = find
    timer = try loop.timer { [weak self] in self?.begin() }
  }

  /// Calls `answer` with the members that a sweep finds. The sweep begins after this call.
  func request(_ instance: InstanceID, answer: @escaping Answer) {
    waiting.append((instance, answer))
    if waiting.count == 1, !isPutOff { schedule() }
  }

  /// Adds a request. During a sweep the request waits for the next one, because the current sweep
  /// may have passed its processes.
  private func schedule() {
    if sweep == nil { timer?.set(max(earliestNext, BootClock.now())) }
  }

  private func begin() {
    if isPutOff || sweep != nil { return }
    (asked, waiting, spent) = (waiting, [], 0)
    sweep = MachineSweep(asked.compactMap { find($0.instance) }, membership)
    steps.begin(.first, user: ProcessSteps.everybody) { [weak self] in self?.step() ?? false }
  }

  private func step() -> Bool {
    let start = BootClock.now()
    do throws(SystemError) {
      let goesOn = try sweep?.step() ?? false
      spent += BootClock.now() - start
      if !goesOn, let found = sweep?.found { end(.success(found)) }
      return goesOn
    } catch {
      end(.failure(error))
      return false
    }
  }

  private func end(_ result: Result<Membership.Sweep, SystemError>) {
    let answers = asked
    (asked, sweep) = ([], nil)
    earliestNext = BootClock.now() + spent
    for (instance, answer) in answers {
      answer(result.map { ($0.members[instance] ?? [], $0.isWhole) })
    }
    if !waiting.isEmpty, !isPutOff { schedule() }
  }
}

import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A scanner that examines all processes of the machine for several requests at once. A sweep takes
/// some microseconds for each process, and serves any number of instances.
///
/// After each sweep, the scanner pauses for as long as the sweep took. Sweeps thus take at most
/// half of the time.
final class ProcessScanner {
  /// Receives the processes that the sweep found for the instance, and whether the sweep has
  /// certainly found all processes of the instance.
  typealias Answer = (Result<(members: [ProcessStat], isWhole: Bool), SystemError>) -> Void

  private let membership: InstanceMembership
  private let steps: ProcessWorkQueue
  private let find: (InstanceID) -> InstanceProcesses?
  private var timer: TimerSource?
  private var waiting: [(instance: InstanceID, answer: Answer)] = []
  /// The requests that the current sweep serves.
  private var asked: [(instance: InstanceID, answer: Answer)] = []
  private var scan: MachineScan?
  /// The duration of the current sweep, in nanoseconds.
  private var spent: UInt64 = 0
  private var earliestNext: UInt64 = 0
  /// Whether to wait for further requests that the same sweep can serve.
  var isDeferred = false {
    didSet { if !isDeferred, !waiting.isEmpty { schedule() } }
  }

  init(
    membership: InstanceMembership, steps: ProcessWorkQueue, loop: EventLoop,
    find: @escaping (InstanceID) -> InstanceProcesses?
  ) throws(SystemError) {
    self.membership = membership
    self.steps = steps
    self.find = find
    timer = try loop.timer { [weak self] in self?.begin() }
  }

  /// Calls `answer` with the processes that a sweep finds for the instance. The sweep begins after
  /// this call has returned.
  func request(_ instance: InstanceID, answer: @escaping Answer) {
    waiting.append((instance, answer))
    if waiting.count == 1, !isDeferred { schedule() }
  }

  /// Sets the timer for the next sweep, unless a sweep is in progress. A request that comes during
  /// a sweep waits for the next sweep, because the current one may already have passed the
  /// processes of the instance.
  private func schedule() {
    if scan == nil { timer?.set(max(earliestNext, BootClock.now())) }
  }

  private func begin() {
    if isDeferred || scan != nil { return }
    (asked, waiting, spent) = (waiting, [], 0)
    scan = MachineScan(asked.compactMap { find($0.instance) }, membership)
    steps.begin(.first, user: ProcessWorkQueue.everybody) { [weak self] in self?.step() ?? false }
  }

  private func step() -> Bool {
    let start = BootClock.now()
    do throws(SystemError) {
      let goesOn = try scan?.step() ?? false
      spent += BootClock.now() - start
      if !goesOn, let found = scan?.found { end(.success(found)) }
      return goesOn
    } catch {
      end(.failure(error))
      return false
    }
  }

  private func end(_ result: Result<InstanceMembership.Scan, SystemError>) {
    let answers = asked
    (asked, scan) = ([], nil)
    earliestNext = BootClock.now() + spent
    for (instance, answer) in answers {
      answer(result.map { ($0.members[instance] ?? [], $0.isWhole) })
    }
    if !waiting.isEmpty, !isDeferred { schedule() }
  }
}

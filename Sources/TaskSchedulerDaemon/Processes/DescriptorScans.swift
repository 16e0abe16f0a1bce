import DequeModule
import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Scans of descriptors. They run on threads, so that a large number of descriptors does not block
/// the event loop.
///
/// Each user has at most one scan in progress, and the users take turns. A user's next scan thus
/// waits for at most one scan of each other user, even if the other users have many scans to do.
final class DescriptorScans {
  /// A scan that was requested.
  struct RequestedScan: Hashable {
    fileprivate let number: UInt64
  }

  private static let process = __priority_which_t(PRIO_PROCESS.rawValue)
  private static let threadsMax = 4
  /// The maximum number of answers to deliver before the loop handles other events.
  private static let answersAtOnceMax = 64

  private let proc: ProcFS
  private let diagnosis: SocketDiagnosis?
  private let shared = SharedValue(ScanQueue())
  private let notifier: LoopNotifier
  private var source: DescriptorSource?
  private var answers: [UInt64: (DescriptorScan.Findings) -> Void] = [:]
  private var numberLast: UInt64 = 0

  /// - Parameter diagnosis: The kernel's report of the machine's sockets.
  init(
    proc: ProcFS, diagnosis: SocketDiagnosis? = nil, loop: EventLoop
  ) throws(SystemError) {
    self.proc = proc
    self.diagnosis = diagnosis
    notifier = try LoopNotifier()
    source = try loop.watch(notifier.rawValue, for: .input) { [weak self] _ in self?.answer() }
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    source = nil
  }

  /// Queues a scan. Calls `answer` from the loop, unless the scan is cancelled first.
  func request(
    _ scan: DescriptorScan, user: UInt32, answer: @escaping (DescriptorScan.Findings) -> Void
  ) -> RequestedScan {
    numberLast += 1
    let number = numberLast
    answers[number] = answer
    let isThreadNeeded = shared.change {
      $0.add(
        ScanQueue.Job(number: number, user: user, scan: scan),
        threadsMax: Self.threadsMax)
    }
    if isThreadNeeded { startThread() }
    return RequestedScan(number: number)
  }

  func cancel(_ scan: RequestedScan) {
    guard answers.removeValue(forKey: scan.number) != nil else { return }
    shared.change { $0.cancel(scan.number) }
  }

  private func startThread() {
    do throws(SystemError) {
      try DetachedThread.start { [shared, notifier, proc, diagnosis] in
        // The thread inherits the priority of the daemon (Nice= of its unit), but a scan must not
        // have a higher priority than the applications.
        if getpriority(Self.process, 0) < 0 { _ = setpriority(Self.process, 0, 0) }
        while let job = shared.change({ $0.take() }) {
          let findings = job.scan.run(in: proc, diagnosis) {
            shared.change { $0.isCancelled(job.number) }
          }
          shared.change { $0.finish(job, findings) }
          notifier.notify()
        }
      }
    } catch {
      // If no thread runs, the findings report that nothing was examined.
      shared.change { $0.giveUp() }
      notifier.notify()
    }
  }

  private func answer() {
    notifier.clear()
    let (results, hasMore) = shared.change { $0.takeResults(max: Self.answersAtOnceMax) }
    if hasMore { notifier.notify() }
    for (number, findings) in results { answers.removeValue(forKey: number)?(findings) }
  }
}

/// The waiting, running and completed scans. The users take turns.
struct ScanQueue: Sendable {
  struct Job: Sendable {
    let number: UInt64
    let user: UInt32
    let scan: DescriptorScan
  }

  private var waiting: [UInt32: Deque<Job>] = [:]
  /// The users with a waiting scan and no running scan, in the order of their turns.
  private var turns: Deque<UInt32> = []
  /// The running scans, by user.
  private var underWay: [UInt32: UInt64] = [:]
  private var cancelled: Set<UInt64> = []
  private var results: Deque<(UInt64, DescriptorScan.Findings)> = []
  private var threads = 0

  /// Adds a scan. Returns whether the caller must start a thread.
  mutating func add(_ job: Job, threadsMax: Int) -> Bool {
    if waiting[job.user] == nil, underWay[job.user] == nil { turns.append(job.user) }
    waiting[job.user, default: []].append(job)
    guard threads < min(threadsMax, turns.count + underWay.count) else { return false }
    threads += 1
    return true
  }

  /// Returns the next scan; nil ends the thread.
  mutating func take() -> Job? {
    while let user = turns.popFirst() {
      guard var own = waiting.removeValue(forKey: user), let job = own.popFirst() else { continue }
      if !own.isEmpty { waiting[user] = own }
      underWay[user] = job.number
      return job
    }
    threads -= 1
    return nil
  }

  /// Stores the findings of a scan, and permits the next scan of the user.
  ///
  /// - Parameter findings: nil if the scan was cancelled.
  mutating func finish(_ job: Job, _ findings: DescriptorScan.Findings?) {
    underWay[job.user] = nil
    if waiting[job.user] != nil { turns.append(job.user) }
    if cancelled.remove(job.number) == nil, let findings { results.append((job.number, findings)) }
  }

  mutating func cancel(_ number: UInt64) {
    if underWay.values.contains(number) { cancelled.insert(number) }
    results.removeAll { $0.0 == number }
    for (user, var own) in waiting {
      guard let place = own.firstIndex(where: { $0.number == number }) else { continue }
      own.remove(at: place)
      waiting[user] = own.isEmpty ? nil : own
      if own.isEmpty { turns.removeAll { $0 == user } }
      break
    }
  }

  func isCancelled(_ number: UInt64) -> Bool { cancelled.contains(number) }

  mutating func takeResults(
    max: Int
  ) -> (results: [(UInt64, DescriptorScan.Findings)], hasMore: Bool) {
    let taken = Array(results.prefix(max))
    results.removeFirst(taken.count)
    return (taken, !results.isEmpty)
  }

  /// Handles the failure to start a thread. If no other thread runs, all waiting scans end without
  /// findings.
  mutating func giveUp() {
    threads -= 1
    guard threads == 0 else { return }
    var nothing = DescriptorScan.Findings()
    nothing.isComplete = false
    for user in turns {
      for job in waiting.removeValue(forKey: user) ?? [] { results.append((job.number, nothing)) }
    }
    turns = []
  }
}

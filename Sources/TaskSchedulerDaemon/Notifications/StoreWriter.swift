import EventLoop
import DequeModule
import LinuxSystem
import TaskSchedulerCore

/// Writes to the store of notifications on a thread, so that the loop waits for no disk.
///
/// A thread runs while something is to be written, and only that thread uses the store meanwhile.
/// It writes in the order in which the jobs were added. Jobs that wait are written in one
/// transaction and share its sync of the disk. If such a group cannot be written, each job is
/// written alone, so that one that does not fit makes no other fail.
final class StoreWriter {
  /// Changes that are made together or not at all.
  struct Job: Sendable {
    let number: UInt64
    let changes: [NotificationChange]
  }

  /// What became of jobs that were written together.
  struct Answer: Sendable {
    let numbers: [UInt64]
    /// The notifications that were presented long ago and are kept no longer.
    let result: Result<[NotificationID], StoreError>
  }

  private struct State: Sendable {
    var waiting: Deque<Job> = []
    var answers: [Answer] = []
    var isRunning = false

    /// The next jobs; none ends the thread.
    mutating func take() -> [Job] {
      let group = Array(waiting.prefix(StoreWriter.groupMax))
      waiting.removeFirst(group.count)
      isRunning = !group.isEmpty
      return group
    }
  }

  /// Hands the store over to the thread.
  private final class Handover: Sendable {
    // The thread uses it while `isRunning`, and the loop does not.
    nonisolated(unsafe) let store: NotificationStore
    init(_ store: NotificationStore) { self.store = store }
  }

  /// How many jobs share a transaction, so that its pages fit into the store's reserve.
  fileprivate static let groupMax = 32

  private let handover: Handover
  private let shared = ThreadShared(State())
  private let bell: Bell
  private var source: DescriptorSource?
  private var numberLast: UInt64 = 0

  /// Calls `answered` from the loop when there are answers to take.
  init(
    _ store: NotificationStore, loop: EventLoop, answered: @escaping () -> Void
  ) throws(SystemError) {
    handover = Handover(store)
    bell = try Bell()
    source = try loop.watch(bell.rawValue, for: .input) { [bell] _ in
      bell.silence()
      answered()
    }
  }

  deinit {
    // Before the descriptor that it watches.
    source = nil
  }

  /// Adds a job; returns its number.
  func add(_ changes: [NotificationChange]) -> UInt64 {
    numberLast += 1
    let job = Job(number: numberLast, changes: changes)
    let isThreadNeeded = shared.change { state in
      state.waiting.append(job)
      defer { state.isRunning = true }
      return !state.isRunning
    }
    if isThreadNeeded { startThread() }
    return job.number
  }

  /// The answers that have come, in the order of the jobs.
  func takeAnswers() -> [Answer] {
    shared.change { state in
      defer { state.answers = [] }
      return state.answers
    }
  }

  /// Blocks until everything was written. Then the caller may use the store.
  func waitUntilIdle() { shared.wait { $0.isRunning ? nil : () } }

  private func startThread() {
    do throws(SystemError) {
      try DetachedThread.start { [shared, bell, handover] in
        while true {
          let jobs = shared.change { $0.take() }
          if jobs.isEmpty { return }
          let answers = Self.write(jobs, to: handover.store)
          shared.change { $0.answers += answers }
          bell.ring()
        }
      }
    } catch {
      let failure = StoreError(
        kind: .failed, message: "notifications cannot be written: no thread is available: \(error)")
      shared.change { state in
        let numbers = state.waiting.map(\.number)
        state.waiting = []
        state.isRunning = false
        state.answers.append(Answer(numbers: numbers, result: .failure(failure)))
      }
      bell.ring()
    }
  }

  private static func write(_ jobs: [Job], to store: NotificationStore) -> [Answer] {
    do throws(StoreError) {
      let forgotten = try store.apply(jobs.flatMap(\.changes))
      return [Answer(numbers: jobs.map(\.number), result: .success(forgotten))]
    } catch {
      if jobs.count > 1 { return jobs.flatMap { write([$0], to: store) } }
      return [Answer(numbers: jobs.map(\.number), result: .failure(error))]
    }
  }
}

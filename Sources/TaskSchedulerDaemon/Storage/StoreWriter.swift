import EventLoop
import DequeModule
import LinuxSystem

/// A store that a ``StoreWriter`` writes.
///
/// A store is used on one thread at a time.
protocol WritableStore: AnyObject, SendableMetatype {
  /// A change of the contents. Applying the same change again has no further effect.
  associatedtype Change: Sendable
  /// The result that the writer reports after it has written changes.
  associatedtype Outcome: Sendable

  /// The name of the store's contents in messages, in the plural.
  static var contents: String { get }

  /// Writes all changes or none. The changes are durable when this function returns.
  func apply(_ changes: [Change]) throws(StoreError) -> Outcome
}

/// Uses a thread to write to a store, so that the event loop does not wait for the disk.
///
/// The thread runs while there are jobs. Meanwhile no other thread uses the store. The thread
/// writes the jobs in the order in which they were added. Waiting jobs share one transaction and
/// its sync. If that transaction fails, the thread writes each job alone, so that one failing job
/// does not make the others fail.
final class StoreWriter<Store: WritableStore> {
  /// Changes that the thread writes in one transaction.
  struct Job: Sendable {
    let number: UInt64
    let changes: [Store.Change]
  }

  /// The result of jobs that the thread wrote in one transaction.
  struct Answer: Sendable {
    let numbers: [UInt64]
    let result: Result<Store.Outcome, StoreError>
  }

  private struct State: Sendable {
    var waiting: Deque<Job> = []
    var answers: [Answer] = []
    var isRunning = false

    /// Removes and returns the next jobs. If there are none, the thread exits.
    mutating func take() -> [Job] {
      let group = Array(waiting.prefix(StoreWriter.groupMax))
      waiting.removeFirst(group.count)
      isRunning = !group.isEmpty
      return group
    }
  }

  /// Passes the store to the thread.
  private final class Handover: Sendable {
    // While `isRunning`, only the thread uses the store.
    nonisolated(unsafe) let store: Store
    init(_ store: Store) { self.store = store }
  }

  /// The maximum number of jobs in a transaction. With this maximum, the pages of a transaction fit
  /// into the ``DiskSpaceReserve``.
  private static var groupMax: Int { 32 }

  private let handover: Handover
  private let shared = SharedValue(State())
  private let notifier: LoopNotifier
  private var source: DescriptorSource?
  private var numberLast: UInt64 = 0

  /// - Parameter answered: Called from the event loop when results are available.
  init(
    _ store: Store, loop: EventLoop, answered: @escaping () -> Void
  ) throws(SystemError) {
    handover = Handover(store)
    notifier = try LoopNotifier()
    source = try loop.watch(notifier.rawValue, for: .input) { [notifier] _ in
      notifier.clear()
      answered()
    }
  }

  deinit {
    // The source must be removed before the descriptor that it watches is closed.
    source = nil
  }

  /// Adds a job. Returns its number.
  func add(_ changes: [Store.Change]) -> UInt64 {
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

  /// Removes and returns the available results, in the order of the jobs.
  func takeAnswers() -> [Answer] {
    shared.change { state in
      defer { state.answers = [] }
      return state.answers
    }
  }

  /// Blocks until the thread has written all jobs. Then the caller may use the store.
  func waitUntilIdle() { shared.wait { $0.isRunning ? nil : () } }

  private func startThread() {
    do throws(SystemError) {
      try DetachedThread.start { [shared, notifier, handover] in
        while true {
          let jobs = shared.change { $0.take() }
          if jobs.isEmpty { return }
          let answers = Self.write(jobs, to: handover.store)
          shared.change { $0.answers += answers }
          notifier.notify()
        }
      }
    } catch {
      let failure = StoreError.noThread(error, contents: Store.contents)
      shared.change { state in
        let numbers = state.waiting.map(\.number)
        state.waiting = []
        state.isRunning = false
        state.answers.append(Answer(numbers: numbers, result: .failure(failure)))
      }
      notifier.notify()
    }
  }

  private static func write(_ jobs: [Job], to store: Store) -> [Answer] {
    do throws(StoreError) {
      let outcome = try store.apply(jobs.flatMap(\.changes))
      return [Answer(numbers: jobs.map(\.number), result: .success(outcome))]
    } catch {
      if jobs.count > 1 { return jobs.flatMap { write([$0], to: store) } }
      return [Answer(numbers: jobs.map(\.number), result: .failure(error))]
    }
  }
}

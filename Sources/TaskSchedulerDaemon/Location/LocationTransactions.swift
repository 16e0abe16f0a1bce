import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Makes the scheduler's changes of location services durable, in their order, and reports each
/// durable change (contract §17).
///
/// A thread writes the changes (``StoreWriter``). The next daemon repeats each change that this
/// daemon has not reported as durable.
final class LocationTransactions {
  /// The store; nil if its file is unusable, or if the daemon has no state directory. Without a
  /// store, the daemon refuses all changes. While the writer runs, only the writer's thread may use
  /// the store.
  private let store: LocationStore?
  private var writer: StoreWriter<LocationStore>?
  /// The reason why the daemon refuses changes; unused if there is a store.
  private let problem: String
  private let log: Log
  private let post: (LocationEvent) -> Void
  /// The pending changes, by their job numbers.
  private var writing: [UInt64: TransactionID] = [:]
  /// Changes that arrive before ``serve()``; nil afterwards. A new daemon first finishes the event
  /// that the earlier daemon left unfinished. If this event begins a change, the change must wait
  /// until the daemon has repeated the changes of the earlier daemon.
  private var held: [TransactionID: LocationStore.Change]? = [:]

  /// - Parameter path: The path of the store's file; nil for a daemon without a state directory.
  init(
    path: String?, loop: EventLoop, log: Log, post: @escaping (LocationEvent) -> Void
  ) throws(SystemError) {
    self.log = log
    self.post = post
    var store: LocationStore?
    var problem = "the daemon has no state directory"
    if let path {
      do throws(StoreError) {
        store = try LocationStore(path: path)
      } catch {
        problem = error.message
        log.write(
          .error, "until its next start, the daemon refuses to store regions, significant changes "
            + "and decisions about the location: \(error)", id: .storeFailed)
      }
    }
    self.store = store
    self.problem = problem
    if let (place, count) = store?.setAside {
      log.write(
        .error, "the location store was damaged and was renamed to \(place); recovered \(count) "
          + "regions and decisions from it", id: .storeFailed)
    }
    if let store {
      writer = try StoreWriter(store, loop: loop) { [unowned self] in takeAnswers() }
    }
  }

  /// Passes the contents of the store to the scheduler. Call this before ``serve()``, and only if
  /// the scheduler has no state of an earlier daemon.
  func load() {
    guard let store else { return }
    attempt("cannot read \(store.path)") { () throws(StoreError) in
      post(.loaded(try store.contents()))
    }
  }

  /// Begins to write changes, those of an earlier daemon first.
  func serve() {
    let earlier = held ?? [:]
    held = nil
    for (id, change) in earlier.sortedByKey { write(id, change) }
  }

  func store(_ id: TransactionID, _ change: LocationStore.Change) {
    if held == nil { write(id, change) } else { held?[id] = change }
  }

  /// Waits until the thread has written all changes, and passes the results to the scheduler. Call
  /// this function before the daemon exits, but only after it has resumed the applications, because
  /// they must not wait for a slow disk.
  func finish() {
    guard let store, let writer else { return }
    while !writing.isEmpty {
      writer.waitUntilIdle()
      takeAnswers()
    }
    attempt("cannot checkpoint \(store.path)") { () throws(StoreError) in
      try store.checkpoint()
    }
  }

  private func write(_ id: TransactionID, _ change: LocationStore.Change) {
    guard let writer else { return post(.storeFailed(id, reason: problem)) }
    writing[writer.add([change])] = id
  }

  private func takeAnswers() {
    for answer in writer?.takeAnswers() ?? [] {
      for number in answer.numbers {
        guard let id = writing.removeValue(forKey: number) else { continue }
        switch answer.result {
        case .success: post(.stored(id))
        case .failure(let error):
          log.write(.error, "refused a change of location data: \(error)", id: .storeFailed)
          post(.storeFailed(id, reason: "\(error)"))
        }
      }
    }
  }

  private func attempt(_ what: String, _ body: () throws(StoreError) -> Void) {
    do throws(StoreError) {
      try body()
    } catch {
      log.write(.error, "\(what): \(error)", id: .storeFailed)
    }
  }
}

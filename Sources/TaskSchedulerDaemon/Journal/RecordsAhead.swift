import Glibc
import LinuxSystem
import TaskSchedulerJournal

/// Reads what is held, and a journal's records, on another thread, ahead of whoever takes them: a
/// new daemon reads the state that they follow meanwhile, and handles the first while the last are
/// being read. Of what a restart takes, reading is the most.
final class RecordsAhead: RecordSource {
  /// Records that are handed over at a time.
  private static let batchCount = 64

  typealias Record = (entry: JournalEntry, end: Int)

  /// What both threads see.
  private final class Shared: @unchecked Sendable {
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let changed: UnsafeMutablePointer<pthread_cond_t>
    // Touched under the mutex only, which is what makes the class Sendable.
    private var held: Result<Holdings, JournalRefusal>?
    private var records: [Record] = []
    private var isOver = false
    private var isAbandoned = false
    private var damage: JournalDamage?

    init() {
      mutex = .allocate(capacity: 1)
      mutex.initialize(to: pthread_mutex_t())
      changed = .allocate(capacity: 1)
      changed.initialize(to: pthread_cond_t())
      let codes = (pthread_mutex_init(mutex, nil), pthread_cond_init(changed, nil))
      precondition(codes == (0, 0), "they need nothing on Linux that could be lacking")
    }

    deinit {
      pthread_cond_destroy(changed)
      changed.deallocate()
      pthread_mutex_destroy(mutex)
      mutex.deallocate()
    }

    private func locked<Result>(_ body: () -> Result) -> Result {
      pthread_mutex_lock(mutex)
      defer { pthread_mutex_unlock(mutex) }
      return body()
    }

    func give(_ held: Result<Holdings, JournalRefusal>) {
      locked {
        self.held = held
        pthread_cond_signal(changed)
      }
    }

    func takeHoldings() -> Result<Holdings, JournalRefusal> {
      locked {
        while true {
          if let held { return held }
          pthread_cond_wait(changed, mutex)
        }
      }
    }

    /// Returns whether more are wanted.
    func give(_ batch: [Record]) -> Bool {
      locked {
        records += batch
        pthread_cond_signal(changed)
        return !isAbandoned
      }
    }

    func end(_ damage: JournalDamage?) {
      locked {
        self.damage = damage
        isOver = true
        pthread_cond_signal(changed)
      }
    }

    /// All that have been read and not taken, one at least; none, and the damage, at the end.
    func take() -> ([Record], JournalDamage?) {
      locked {
        while records.isEmpty, !isOver { pthread_cond_wait(changed, mutex) }
        defer { records = [] }
        return (records, records.isEmpty ? damage : nil)
      }
    }

    /// Returns when nothing is being read any more.
    func abandon() {
      locked {
        isAbandoned = true
        while !isOver { pthread_cond_wait(changed, mutex) }
      }
    }
  }

  /// What reads: its bytes are whoever's who made it, and live until it is over.
  private struct Reader: @unchecked Sendable {
    var records: RecordReader
  }

  private let shared: Shared
  private var taken: ArraySlice<Record> = []
  private(set) var damage: JournalDamage?

  /// Where no thread is to be had, they are read as they are taken.
  static func begin(_ records: RecordReader) -> any RecordSource {
    if let ahead = try? RecordsAhead(records) { return ahead }
    return records
  }

  private init(_ records: RecordReader) throws(SystemError) {
    let shared = Shared()
    let reader = Reader(records: records)
    try DetachedThread.start {
      var records = reader.records
      shared.give(records.holdings())
      var batch: [Record] = []
      while let record = records.next() {
        batch.append(record)
        guard batch.count == Self.batchCount else { continue }
        if !shared.give(batch) { break }
        batch.removeAll(keepingCapacity: true)
      }
      _ = shared.give(batch)
      shared.end(records.damage)
    }
    self.shared = shared
  }

  deinit {
    shared.abandon()
  }

  func holdings() -> Result<Holdings, JournalRefusal> { shared.takeHoldings() }

  func next() -> Record? {
    if taken.isEmpty {
      let (records, damage) = shared.take()
      taken = records[...]
      self.damage = damage
    }
    return taken.popFirst()
  }
}

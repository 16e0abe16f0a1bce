import DequeModule
import LinuxSystem
import TaskSchedulerEventLog

/// Reads what is held, and an event log's records, on another thread, ahead of whoever takes them:
/// a new daemon reads the state that they follow meanwhile, and handles the first while the last
/// are being read. Of what a restart takes, reading is the most.
final class RecordsAhead: RecordSource {
  /// Records that are handed over at a time.
  private static let batchCount = 64

  typealias Record = (entry: EventLogEntry, end: Int)

  /// What both threads see.
  private struct Progress {
    var held: Result<Holdings, EventLogRefusal>?
    var batches: Deque<[Record]> = []
    var isOver = false
    var isAbandoned = false
    var damage: EventLogDamage?
  }

  /// What reads: its bytes are whoever's who made it, and live until it is over.
  private struct Reader: @unchecked Sendable {
    var records: RecordReader
  }

  private let shared: ThreadShared<Progress>
  private var isHeldTaken = false
  private var taken: ArraySlice<Record> = []
  private(set) var damage: EventLogDamage?

  /// Where no thread is to be had, they are read as they are taken.
  static func begin(_ records: RecordReader) -> any RecordSource {
    if let ahead = try? RecordsAhead(records) { return ahead }
    return records
  }

  private init(_ records: RecordReader) throws(SystemError) {
    let shared = ThreadShared(Progress())
    let reader = Reader(records: records)
    try DetachedThread.start {
      var records = reader.records
      Self.readHoldings(records, shared)
      var batch: [Record] = []
      while let record = records.next() {
        batch.append(record)
        guard batch.count == Self.batchCount else { continue }
        let isWanted = shared.change {
          $0.batches.append(batch)
          return !$0.isAbandoned
        }
        if !isWanted { break }
        batch = []
        batch.reserveCapacity(Self.batchCount)
      }
      shared.change {
        $0.batches.append(batch)
        $0.damage = records.damage
        $0.isOver = true
      }
    }
    self.shared = shared
  }

  /// Returns when nothing is being read any more.
  deinit {
    shared.change { $0.isAbandoned = true }
    shared.wait { $0.isOver ? () : nil }
  }

  /// So that this thread is left with none of it: who has all of it alone changes it in place.
  private static func readHoldings(_ records: RecordReader, _ shared: ThreadShared<Progress>) {
    let held = records.holdings()
    shared.change { $0.held = held }
  }

  func holdings() -> Result<Holdings, EventLogRefusal> {
    precondition(!isHeldTaken, "what is held is asked for once")
    isHeldTaken = true
    return shared.wait { progress in
      defer { progress.held = nil }
      return progress.held
    }
  }

  func next() -> Record? {
    if taken.isEmpty {
      let (records, damage) = shared.wait { progress -> ([Record], EventLogDamage?)? in
        if let batch = progress.batches.popFirst(), !batch.isEmpty { return (batch, nil) }
        // The damage is at the end.
        return progress.isOver ? ([], progress.damage) : nil
      }
      taken = records[...]
      self.damage = damage
    }
    return taken.popFirst()
  }
}

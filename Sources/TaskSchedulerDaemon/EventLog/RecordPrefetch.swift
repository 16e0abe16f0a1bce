import DequeModule
import LinuxSystem
import TaskSchedulerEventLog

/// A record source that reads an event log on another thread, before the daemon needs the records.
///
/// Reading takes most of the time of a restart. The thread reads the state and the records while
/// the daemon takes over descriptors and handles the first records.
final class RecordPrefetch: RecordSource {
  /// The number of records that the thread passes to the daemon at a time.
  private static let batchCount = 64

  typealias Record = (entry: EventLogEntry, end: Int)

  /// The state that both threads share.
  private struct Progress {
    var held: Result<DaemonState, EventLogRefusal>?
    var batches: Deque<[Record]> = []
    var isOver = false
    var isAbandoned = false
    var damage: EventLogDamage?
  }

  /// The reader, in a form that another thread may receive. The creator of the ``RecordPrefetch``
  /// owns the reader's bytes, and keeps them until the thread ends.
  private struct Reader: @unchecked Sendable {
    var records: RecordReader
  }

  private let shared: SharedValue<Progress>
  private var isHeldTaken = false
  private var taken: ArraySlice<Record> = []
  private(set) var damage: EventLogDamage?

  /// Begins to read on another thread. If the system cannot create a thread, the returned source
  /// reads each record when the daemon needs the record.
  static func begin(_ records: RecordReader) -> any RecordSource {
    if let prefetch = try? RecordPrefetch(records) { return prefetch }
    return records
  }

  private init(_ records: RecordReader) throws(SystemError) {
    let shared = SharedValue(Progress())
    let reader = Reader(records: records)
    try DetachedThread.start {
      var records = reader.records
      Self.readDaemonState(records, shared)
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

  /// Tells the thread to stop, and waits until it has ended.
  deinit {
    shared.change { $0.isAbandoned = true }
    shared.wait { $0.isOver ? () : nil }
  }

  /// Reads the daemon's state, on the reading thread. This is a separate function so that the
  /// thread keeps no reference to the state. The daemon's main thread then has the only reference,
  /// and can change the state without a copy.
  private static func readDaemonState(_ records: RecordReader, _ shared: SharedValue<Progress>) {
    let held = records.daemonState()
    shared.change { $0.held = held }
  }

  func daemonState() -> Result<DaemonState, EventLogRefusal> {
    precondition(!isHeldTaken, "the daemon's state was already taken")
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
        // The daemon learns of the damage only after it has received all intact records.
        return progress.isOver ? ([], progress.damage) : nil
      }
      taken = records[...]
      self.damage = damage
    }
    return taken.popFirst()
  }
}

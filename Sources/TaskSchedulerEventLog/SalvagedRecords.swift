import TaskSchedulerCore

/// The records of an event log one after the other, also beyond what is damaged.
///
/// What lies between is lost, so that nothing can be gone on from here; but each may name
/// processes that stand still.
struct SalvagedRecords: IteratorProtocol {
  struct Record {
    /// Its kind and value.
    let bytes: UnsafeRawBufferPointer
    /// Whether its checksum is right.
    let isWhole: Bool
  }

  /// Of so many bytes checksums are taken while a record is looked for: some hundred times what a
  /// event log of a thousand applications has.
  private static let searchBytesMax = 256 << 20

  private let bytes: UnsafeRawBufferPointer
  private var place = EventLogLayout.headerBytes
  private var isOver = false
  private var searchBytesLeft = Self.searchBytesMax
  /// The first.
  private(set) var damage: EventLogDamage?

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func next() -> Record? {
    if isOver { return nil }
    do throws(MalformedBytes) {
      if let record = try RecordReader.record(in: bytes, at: place) {
        place += EventLogLayout.recordHeaderBytes + record.count
        return Record(bytes: record, isWhole: true)
      }
    } catch {
      note(error.problem)
    }
    let spoiled = spoiledRecord
    if let spoiled {
      let end = place + EventLogLayout.recordHeaderBytes + spoiled.count
      if wholeRecord(at: end) != nil {
        place = end
        return Record(bytes: spoiled, isWhole: false)
      }
    }
    if let next = search() {
      note("a record's length is wrong")
      place = next
      return self.next()
    }
    isOver = true
    return spoiled.map { Record(bytes: $0, isWhole: false) }
  }

  private mutating func note(_ problem: String) {
    damage = damage ?? EventLogDamage(place: place, problem: problem)
  }

  private func length(at place: Int) -> Int {
    Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
  }

  /// What is at this place, as long as it says.
  private var spoiledRecord: UnsafeRawBufferPointer? {
    let start = place + EventLogLayout.recordHeaderBytes
    guard start <= bytes.count else { return nil }
    let count = length(at: place)
    guard count > 0, count <= bytes.count - start else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
  }

  private func wholeRecord(at place: Int) -> UnsafeRawBufferPointer? {
    (try? RecordReader.record(in: bytes, at: place)) ?? nil
  }

  /// Where the next whole record is.
  private mutating func search() -> Int? {
    var next = place + 1
    while next + EventLogLayout.recordHeaderBytes < bytes.count, searchBytesLeft > 0 {
      // Mostly there is nothing any more: no length begins in the first five of eight zeros.
      if bytes.loadUnaligned(fromByteOffset: next, as: UInt64.self) == 0 {
        next += 5
        continue
      }
      let start = next + EventLogLayout.recordHeaderBytes
      let count = length(at: next)
      if count > 0, count <= bytes.count - start,
        EventLogLayout.RecordKind(rawValue: bytes[start]) != nil {
        searchBytesLeft -= count
        if wholeRecord(at: next) != nil { return next }
      }
      next += 1
    }
    return nil
  }
}

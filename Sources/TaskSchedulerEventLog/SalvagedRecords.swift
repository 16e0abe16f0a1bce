import TaskSchedulerCore

/// The records of a damaged event log, in order.
///
/// The iterator skips damaged bytes and continues with the next intact record. A daemon cannot
/// recover from the records that follow damage, because some are missing. Each record may still
/// name stopped processes.
struct SalvagedRecords: IteratorProtocol {
  struct Record {
    /// The kind and the value.
    let bytes: UnsafeRawBufferPointer
    /// Whether the checksum is correct.
    let isIntact: Bool
  }

  /// The maximum number of bytes over which the search for intact records computes checksums. It
  /// limits the time that a damaged file can cost. The event log of a thousand applications has
  /// less than a hundredth of this number of bytes.
  private static let searchBytesMax = 256 << 20

  private let bytes: UnsafeRawBufferPointer
  private var place = EventLogLayout.headerBytes
  private var isOver = false
  private var searchBytesLeft = Self.searchBytesMax
  /// The first damage that the iterator has found.
  private(set) var damage: EventLogDamage?

  init(_ bytes: UnsafeRawBufferPointer) {
    self.bytes = bytes
  }

  mutating func next() -> Record? {
    if isOver { return nil }
    do throws(MalformedBytes) {
      if let record = try RecordReader.record(in: bytes, at: place) {
        place += EventLogLayout.recordHeaderBytes + record.count
        return Record(bytes: record, isIntact: true)
      }
    } catch {
      note(error.problem)
    }
    let damaged = damagedRecord
    if let damaged {
      let end = place + EventLogLayout.recordHeaderBytes + damaged.count
      if intactRecord(at: end) != nil {
        place = end
        return Record(bytes: damaged, isIntact: false)
      }
    }
    if let next = search() {
      note("a record's length is wrong")
      place = next
      return self.next()
    }
    isOver = true
    return damaged.map { Record(bytes: $0, isIntact: false) }
  }

  private mutating func note(_ problem: String) {
    damage = damage ?? EventLogDamage(place: place, problem: problem)
  }

  private func length(at place: Int) -> Int {
    Int(UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self)))
  }

  /// The bytes of the damaged record at the current place, if its length field is plausible.
  private var damagedRecord: UnsafeRawBufferPointer? {
    let start = place + EventLogLayout.recordHeaderBytes
    guard start <= bytes.count else { return nil }
    let count = length(at: place)
    guard count > 0, count <= bytes.count - start else { return nil }
    return UnsafeRawBufferPointer(rebasing: bytes[start..<start + count])
  }

  private func intactRecord(at place: Int) -> UnsafeRawBufferPointer? {
    (try? RecordReader.record(in: bytes, at: place)) ?? nil
  }

  /// Returns the place of the next intact record, or nil if the search finds none.
  private mutating func search() -> Int? {
    var next = place + 1
    while next + EventLogLayout.recordHeaderBytes < bytes.count, searchBytesLeft > 0 {
      // Most of the remaining bytes are zeros. No record begins in the first five of eight zeros,
      // because its length would be 0.
      if bytes.loadUnaligned(fromByteOffset: next, as: UInt64.self) == 0 {
        next += 5
        continue
      }
      let start = next + EventLogLayout.recordHeaderBytes
      let count = length(at: next)
      if count > 0, count <= bytes.count - start,
        EventLogLayout.RecordKind(rawValue: bytes[start]) != nil {
        searchBytesLeft -= count
        if intactRecord(at: next) != nil { return next }
      }
      next += 1
    }
    return nil
  }
}

import TaskSchedulerCore

/// A record that follows the first three records of an event log.
public enum EventLogEntry: Sendable {
  case event(Event, for: LoggedCall?, at: Instant)
  case note(Note)
}

/// A source of the records of an event log, and of the daemon's state at the start of that event
/// log.
public protocol RecordSource {
  /// Returns the daemon's state at the start of the event log. Call this once, before ``next()``.
  mutating func daemonState() -> Result<DaemonState, EventLogRefusal>
  /// Returns the next record and the offset of its end, or nil at the end or at damage.
  mutating func next() -> (entry: EventLogEntry, end: Int)?
  /// The damage that ``next()`` has found.
  var damage: EventLogDamage? { get }
}

/// Reads the records of an event log. The bytes may have any content.
public struct RecordReader: RecordSource {
  private let bytes: UnsafeRawBufferPointer
  private var held: Result<UnsafeRawBufferPointer, MalformedBytes>?
  /// The offset of the next record, or of the end.
  private(set) var end: Int
  public private(set) var damage: EventLogDamage?

  init(_ bytes: UnsafeRawBufferPointer, from place: Int) {
    self.bytes = bytes
    end = place
  }

  /// Skips the record with the daemon's state. ``daemonState()`` decodes it later.
  mutating func skipDaemonState() { held = firstRecord(.daemonState) }

  /// Decodes the daemon's state at the start of the event log.
  public func daemonState() -> Result<DaemonState, EventLogRefusal> {
    guard let held else { preconditionFailure("skipDaemonState() was not called") }
    return Result { () throws(EventLogRefusal) in try Self.value(DaemonState.self, in: held) }
  }

  /// Decodes the value of one of the first three records.
  static func value<Value: Stored>(
    _ type: Value.Type, in record: Result<UnsafeRawBufferPointer, MalformedBytes>
  ) throws(EventLogRefusal) -> Value {
    do throws(MalformedBytes) {
      return try StoredReader.read(type, from: record.get())
    } catch {
      throw .damagedStart(error.problem)
    }
  }

  /// Returns the bytes of the value of one of the first three records, and skips the record.
  mutating func firstRecord(
    _ kind: EventLogLayout.RecordKind
  ) -> Result<UnsafeRawBufferPointer, MalformedBytes> {
    Result { () throws(MalformedBytes) in
      guard let record = try Self.record(in: bytes, at: end) else {
        throw MalformedBytes("the file ends before the record '\(kind)'")
      }
      end += EventLogLayout.recordHeaderBytes + record.count
      guard record.first == kind.rawValue else {
        throw MalformedBytes("the record '\(kind)' is missing")
      }
      return UnsafeRawBufferPointer(rebasing: record.dropFirst())
    }
  }

  /// Returns the kind and value of the record at an offset, or nil if no record was written there.
  static func record(
    in bytes: UnsafeRawBufferPointer, at place: Int
  ) throws(MalformedBytes) -> UnsafeRawBufferPointer? {
    let start = place + EventLogLayout.recordHeaderBytes
    guard place + 4 <= bytes.count else { throw MalformedBytes("the file was cut off") }
    let count = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    guard count > 0 else { return nil }
    guard start <= bytes.count, Int(count) <= bytes.count - start else {
      throw MalformedBytes("a record of \(count) bytes was cut off")
    }
    let record = UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(count)])
    let sum = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
    guard sum == Checksum.crc32(record) else {
      throw MalformedBytes("a record's checksum is wrong")
    }
    return record
  }

  public mutating func next() -> (entry: EventLogEntry, end: Int)? {
    guard damage == nil else { return nil }
    do throws(MalformedBytes) {
      guard let record = try Self.record(in: bytes, at: end) else { return nil }
      let entry = try Self.entry(record)
      end += EventLogLayout.recordHeaderBytes + record.count
      return (entry, end)
    } catch {
      damage = EventLogDamage(place: end, problem: error.problem)
      return nil
    }
  }

  /// Decodes an event or a note.
  ///
  /// - Parameter record: The kind and the value.
  static func entry(_ record: UnsafeRawBufferPointer) throws(MalformedBytes) -> EventLogEntry {
    switch EventLogLayout.RecordKind(rawValue: record[0]) {
    case .event:
      guard record.count > 9 else { throw MalformedBytes("an event has no instant") }
      let at = UInt64(littleEndian: record.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      var reader = StoredReader(UnsafeRawBufferPointer(rebasing: record.dropFirst(9)))
      let call = try LoggedCall?(from: &reader)
      let event = try Event(from: &reader)
      try reader.finish()
      return .event(event, for: call, at: Instant(nanoseconds: at))
    case .note:
      let value = UnsafeRawBufferPointer(rebasing: record.dropFirst())
      return .note(try StoredReader.read(Note.self, from: value))
    case .start, .daemonState, .scheduler, nil:
      typealias Kind = EventLogLayout.RecordKind
      throw MalformedBytes(
        "the record has the kind \(record[0]); after the first three records, only kinds "
          + "\(Kind.event.rawValue) (event) and \(Kind.note.rawValue) (note) are valid")
    }
  }
}

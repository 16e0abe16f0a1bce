import TaskSchedulerCore

/// One record after those that an event log begins with.
public enum EventLogEntry: Sendable {
  case event(Event, for: LoggedCall?, at: Instant)
  case note(Note)
}

/// Where what is held and an event log's records come from, one after the other.
public protocol RecordSource {
  /// What is held when the records begin. To be asked once, before the first of them.
  mutating func holdings() -> Result<Holdings, EventLogRefusal>
  /// The next record, and the place where it ends; nil at the end, which may be a damage's.
  mutating func next() -> (entry: EventLogEntry, end: Int)?
  /// Set when ``next()`` has come to it.
  var damage: EventLogDamage? { get }
}

/// Reads the records of an event log from its bytes, which may be anything.
public struct RecordReader: RecordSource {
  private let bytes: UnsafeRawBufferPointer
  private var held: Result<UnsafeRawBufferPointer, MalformedBytes>?
  /// Where the next record is, or would be.
  private(set) var end: Int
  public private(set) var damage: EventLogDamage?

  init(_ bytes: UnsafeRawBufferPointer, from place: Int) {
    self.bytes = bytes
    end = place
  }

  /// Steps over what is held.
  mutating func skipHoldings() { held = firstRecord(.holdings) }

  /// Decoded when it is asked for.
  public func holdings() -> Result<Holdings, EventLogRefusal> {
    guard let held else { preconditionFailure("what is held has been stepped over") }
    return Result { () throws(EventLogRefusal) in try Self.value(Holdings.self, in: held) }
  }

  /// One of the values that an event log begins with.
  static func value<Value: Stored>(
    _ type: Value.Type, in record: Result<UnsafeRawBufferPointer, MalformedBytes>
  ) throws(EventLogRefusal) -> Value {
    do throws(MalformedBytes) {
      return try StoredReader.read(type, from: record.get())
    } catch {
      throw .damagedStart(error.problem)
    }
  }

  /// The value of a record that an event log begins with: its bytes.
  mutating func firstRecord(
    _ kind: EventLogLayout.RecordKind
  ) -> Result<UnsafeRawBufferPointer, MalformedBytes> {
    Result { () throws(MalformedBytes) in
      guard let record = try Self.record(in: bytes, at: end) else {
        throw MalformedBytes("it ends before its \(kind)")
      }
      end += EventLogLayout.recordHeaderBytes + record.count
      guard record.first == kind.rawValue else {
        throw MalformedBytes("its \(kind) is missing")
      }
      return UnsafeRawBufferPointer(rebasing: record.dropFirst())
    }
  }

  /// The record at a place: its kind and value; nil where none has been written yet.
  static func record(
    in bytes: UnsafeRawBufferPointer, at place: Int
  ) throws(MalformedBytes) -> UnsafeRawBufferPointer? {
    let start = place + EventLogLayout.recordHeaderBytes
    guard place + 4 <= bytes.count else { throw MalformedBytes("it was cut off") }
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

  /// - Parameter record: its kind and what follows it.
  static func entry(_ record: UnsafeRawBufferPointer) throws(MalformedBytes) -> EventLogEntry {
    switch EventLogLayout.RecordKind(rawValue: record[0]) {
    case .event:
      guard record.count > 9 else { throw MalformedBytes("an event without an instant") }
      let at = UInt64(littleEndian: record.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      var reader = StoredReader(UnsafeRawBufferPointer(rebasing: record.dropFirst(9)))
      let call = try LoggedCall?(from: &reader)
      let event = try Event(from: &reader)
      try reader.finish()
      return .event(event, for: call, at: Instant(nanoseconds: at))
    case .note:
      let value = UnsafeRawBufferPointer(rebasing: record.dropFirst())
      return .note(try StoredReader.read(Note.self, from: value))
    case .start, .holdings, .scheduler, nil:
      throw MalformedBytes("a record of kind \(record[0]) follows the beginning")
    }
  }
}

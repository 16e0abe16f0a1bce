import TaskSchedulerCore

/// Why nothing can be gone on from in a journal.
public enum JournalRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// It is no journal, or shorter than one's header.
  case noJournal
  /// Of a form that this version does not read.
  case version(UInt32)
  /// Of another run of the machine: what it holds is gone.
  case otherBoot
  /// What it begins with is damaged.
  case damagedStart(String)

  public var description: String {
    switch self {
    case .noJournal: "it is no journal of taskschedd, or was cut off"
    case .version(let version):
      "its form is version \(version), and this taskschedd reads version \(JournalLayout.version)"
    case .otherBoot: "it is of an earlier run of the machine"
    case .damagedStart(let problem): "what it begins with cannot be read: \(problem)"
    }
  }
}

/// Where a journal ends before its last record.
public struct JournalDamage: Hashable, Sendable, CustomStringConvertible {
  /// Bytes from its start.
  public var place: Int
  public var problem: String
  public var description: String { "from byte \(place) on: \(problem)" }

  public init(place: Int, problem: String) {
    self.place = place
    self.problem = problem
  }
}

/// Where the daemon was when it wrote last, as the header tells.
public struct JournalProgress: Hashable, Sendable {
  /// The number of the event that was being carried out, from 1.
  public var event: UInt64
  public var effectsDone: Int
  public var callPhase: CallPhase
  public var callConnection: UInt64
  /// The number of the event that the call asks for; 0 while there is none.
  public var callEvent: UInt64
  public var callBytes: Int
  public var callIsOneway: Bool
  /// Where an answer was being sent; 0 is nowhere.
  public var sending: UInt64
  public var attempts: UInt32
  public var isBehind: Bool
  public var isClean: Bool
}

/// Reads a journal: bytes that may be anything.
public struct JournalReader {
  /// One record after those that it begins with.
  public enum Entry: Sendable {
    case event(Event, at: Instant)
    case note(Note)
  }

  private let bytes: UnsafeRawBufferPointer
  private var place = JournalLayout.headerBytes
  public let start: JournalStart
  public let holdings: Holdings
  /// nil where it cannot be read: what is held is known all the same.
  public let scheduler: Result<Scheduler, JournalRefusal>
  public let progress: JournalProgress
  /// Set when ``next()`` has come to it.
  public private(set) var damage: JournalDamage?

  /// Where the next record is, or would be.
  public var end: Int { place }

  /// - Parameter boot: the present one; nil reads the journal of any.
  public init(_ bytes: UnsafeRawBufferPointer, boot: BootID?) throws(JournalRefusal) {
    guard bytes.count >= JournalLayout.headerBytes,
      bytes.prefix(JournalLayout.magic.count).elementsEqual(JournalLayout.magic)
    else { throw .noJournal }
    let version = UInt32(
      littleEndian: bytes.loadUnaligned(
        fromByteOffset: JournalLayout.versionPlace, as: UInt32.self))
    guard version == JournalLayout.version else { throw .version(version) }
    let bootPlace = JournalLayout.bootPlace
    if let boot, !bytes[bootPlace..<bootPlace + 16].elementsEqual(boot.bytes) {
      throw .otherBoot
    }
    self.bytes = bytes
    progress = Self.progress(bytes)
    var place = place
    start = try Self.first(.start, JournalStart.self, bytes, &place)
    holdings = try Self.first(.holdings, Holdings.self, bytes, &place)
    scheduler = Result { () throws(JournalRefusal) in
      try Self.first(.scheduler, Scheduler.self, bytes, &place)
    }
    self.place = place
  }

  private static func progress(_ bytes: UnsafeRawBufferPointer) -> JournalProgress {
    func word<Value: FixedWidthInteger & BitwiseCopyable>(_ place: Int, _: Value.Type) -> Value {
      Value(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Value.self))
    }
    typealias Place = JournalLayout.Progress
    return JournalProgress(
      event: word(Place.event, UInt64.self),
      effectsDone: Int(word(Place.effectsDone, UInt32.self)),
      callPhase: CallPhase(rawValue: word(Place.callPhase, UInt32.self)) ?? .taking,
      callConnection: word(Place.callConnection, UInt64.self),
      callEvent: word(Place.callEvent, UInt64.self),
      callBytes: Int(word(Place.callBytes, UInt32.self)),
      callIsOneway: word(Place.callIsOneway, UInt32.self) != 0,
      sending: word(Place.sending, UInt64.self),
      attempts: word(Place.attempts, UInt32.self),
      isBehind: word(Place.isBehind, UInt32.self) != 0,
      isClean: word(Place.isClean, UInt32.self) != 0)
  }

  private static func first<Value: Decodable>(
    _ kind: JournalLayout.RecordKind, _ type: Value.Type, _ bytes: UnsafeRawBufferPointer,
    _ place: inout Int
  ) throws(JournalRefusal) -> Value {
    do {
      guard let record = try record(bytes, at: place) else {
        throw Torn(problem: "it ends before its \(kind)")
      }
      place += JournalLayout.recordHeaderBytes + record.count
      guard record.first == kind.rawValue else { throw Torn(problem: "its \(kind) is missing") }
      return try BinaryDecoding.decode(
        type, from: UnsafeRawBufferPointer(rebasing: record.dropFirst()))
    } catch {
      throw .damagedStart(describe(error))
    }
  }

  private struct Torn: Error {
    var problem: String
  }

  /// The record at a place: its kind and value; nil where none has been written yet.
  private static func record(
    _ bytes: UnsafeRawBufferPointer, at place: Int
  ) throws(Torn) -> UnsafeRawBufferPointer? {
    let start = place + JournalLayout.recordHeaderBytes
    guard place + 4 <= bytes.count else { throw Torn(problem: "it was cut off") }
    let count = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: UInt32.self))
    guard count > 0 else { return nil }
    guard start <= bytes.count, Int(count) <= bytes.count - start else {
      throw Torn(problem: "a record of \(count) bytes was cut off")
    }
    let record = UnsafeRawBufferPointer(rebasing: bytes[start..<start + Int(count)])
    let sum = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: place + 4, as: UInt32.self))
    guard sum == Checksum.crc32(record) else { throw Torn(problem: "a record's checksum is wrong") }
    return record
  }

  /// The next record; nil at the end, which may be a damage's.
  public mutating func next() -> Entry? {
    guard damage == nil else { return nil }
    do {
      guard let record = try Self.record(bytes, at: place) else { return nil }
      let entry = try Self.entry(record)
      place += JournalLayout.recordHeaderBytes + record.count
      return entry
    } catch {
      damage = JournalDamage(place: place, problem: Self.describe(error))
      return nil
    }
  }

  private static func entry(_ record: UnsafeRawBufferPointer) throws -> Entry {
    switch JournalLayout.RecordKind(rawValue: record[0]) {
    case .event:
      guard record.count > 9 else { throw Torn(problem: "an event without an instant") }
      let at = UInt64(littleEndian: record.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      let event = try BinaryDecoding.decode(
        Event.self, from: UnsafeRawBufferPointer(rebasing: record.dropFirst(9)))
      return .event(event, at: Instant(nanoseconds: at))
    case .note:
      return .note(
        try BinaryDecoding.decode(
          Note.self, from: UnsafeRawBufferPointer(rebasing: record.dropFirst())))
    case .start, .holdings, .scheduler, nil:
      throw Torn(problem: "no record that may follow is of kind \(record[0])")
    }
  }

  private static func describe(_ error: any Error) -> String {
    switch error {
    case let torn as Torn: torn.problem
    case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
      DecodingError.keyNotFound(_, let context), DecodingError.valueNotFound(_, let context):
      context.debugDescription
    case _: "\(error)"
    }
  }
}

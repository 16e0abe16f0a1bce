import TaskSchedulerCore

/// Why an event log cannot be used.
public enum EventLogRefusal: Error, Hashable, Sendable, CustomStringConvertible {
  /// The file is not an event log, or shorter than the header of one.
  case notAnEventLog
  /// The format version, which this taskschedd does not read.
  case version(UInt32)
  /// The event log was written before the last boot, and its processes are gone.
  case otherBoot
  /// The first record is damaged.
  case damagedStart(String)

  public var description: String {
    switch self {
    case .notAnEventLog: "the file is not an event log of taskschedd, or is truncated"
    case .version(let version):
      "its format version is \(version); this taskschedd reads version \(EventLogLayout.version)"
    case .otherBoot: "it was written before the last boot"
    case .damagedStart(let problem): "its first record is damaged: \(problem)"
    }
  }
}

/// Where an event log ends before its last record.
public struct EventLogDamage: Hashable, Sendable, CustomStringConvertible {
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
public struct EventLogProgress: Hashable, Sendable {
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

  /// How many daemons in succession may have died before they served. With more, a record of the
  /// event log is the likely cause, and no process may stay stopped because of it.
  public static let attemptsMax: UInt32 = 16

  /// Why no daemon may continue from the event log; nil if it may.
  public var problem: String? {
    if isBehind {
      return "the runtime directory was full, and the last actions of the daemon are missing"
    }
    if attempts >= Self.attemptsMax {
      return "\(attempts) daemons in succession died before they served"
    }
    return nil
  }
}

/// Reads an event log: bytes that may be anything.
public struct EventLogReader {
  public let start: EventLogStart
  public let holdings: Holdings
  /// nil where it cannot be read: what is held is known all the same.
  public let scheduler: Result<Scheduler, EventLogRefusal>
  public let progress: EventLogProgress
  public private(set) var records: EventLogRecords

  /// - Parameters:
  ///   - boot: the present one; nil reads the event log of any.
  ///   - readAhead: may hand out what it is given on another thread, which reads while this one
  ///     does. The bytes must outlive what it returns.
  public init(
    _ bytes: UnsafeRawBufferPointer, boot: BootID?,
    readAhead: (RecordReader) -> any RecordSource = { $0 }
  ) throws(EventLogRefusal) {
    try EventLogLayout.checkHeader(bytes, boot: boot)
    progress = Self.progress(bytes)
    var reader = RecordReader(bytes, from: EventLogLayout.headerBytes)
    let start = reader.firstRecord(.start)
    reader.skipHoldings()
    let scheduler = reader.firstRecord(.scheduler)
    var source = readAhead(reader)
    self.start = try RecordReader.value(EventLogStart.self, in: start)
    self.scheduler = Result { () throws(EventLogRefusal) in
      try RecordReader.value(Scheduler.self, in: scheduler)
    }
    holdings = try source.holdings().get()
    records = EventLogRecords(source, from: reader.end)
  }

  private static func progress(_ bytes: UnsafeRawBufferPointer) -> EventLogProgress {
    func word<Value: FixedWidthInteger & BitwiseCopyable>(_ place: Int, _: Value.Type) -> Value {
      Value(littleEndian: bytes.loadUnaligned(fromByteOffset: place, as: Value.self))
    }
    typealias Place = EventLogLayout.Progress
    return EventLogProgress(
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

  /// Where the next record is, or would be.
  public var end: Int { records.end }
  /// The next record; nil at the end, which may be a damage's.
  public mutating func next() -> EventLogEntry? { records.next() }
  /// Set when ``next()`` has come to it.
  public var damage: EventLogDamage? { records.damage }
}

/// An event log's records, one after the other.
public struct EventLogRecords {
  private var source: any RecordSource
  /// Where the next record is, or would be.
  public private(set) var end: Int
  /// Set when ``next()`` has come to it.
  public var damage: EventLogDamage? { source.damage }

  init(_ source: any RecordSource, from end: Int) {
    self.source = source
    self.end = end
  }

  /// The next record; nil at the end, which may be a damage's.
  public mutating func next() -> EventLogEntry? {
    guard let record = source.next() else { return nil }
    end = record.end
    return record.entry
  }
}

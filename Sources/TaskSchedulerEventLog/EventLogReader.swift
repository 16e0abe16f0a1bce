import TaskSchedulerCore

/// The reason why an event log cannot be used.
public enum EventLogRefusal: Error, Equatable, Sendable, CustomStringConvertible {
  /// The file is not an event log, or is shorter than the header of an event log.
  case notAnEventLog
  /// The format of the event log has the given version, which this taskschedd does not read.
  case version(UInt32)
  /// The event log was written before the last boot, and its processes are gone.
  case otherBoot
  /// The header or one of the first three records is damaged.
  case damagedStart(String)

  public var description: String {
    switch self {
    case .notAnEventLog: "the file is not an event log of taskschedd, or is truncated"
    case .version(let version):
      "its format version is \(version); this taskschedd reads version \(EventLogLayout.version)"
    case .otherBoot: "it was written before the last boot"
    case .damagedStart(let problem): "its start is damaged: \(problem)"
    }
  }
}

/// Damage in an event log. The usable part of the event log ends before the damage.
public struct EventLogDamage: Equatable, Sendable, CustomStringConvertible {
  /// The offset in bytes from the start of the event log.
  public var place: Int
  public var problem: String
  public var description: String { "from byte \(place) on: \(problem)" }

  public init(place: Int, problem: String) {
    self.place = place
    self.problem = problem
  }
}

/// The last progress of the daemon, as recorded in the header of the event log.
public struct EventLogProgress: Equatable, Sendable {
  /// The number of the daemon's last event, counted from 1. If the daemon died before it wrote that
  /// event, the event log does not contain it.
  public var event: UInt64
  /// The number of effects of that event that were certainly carried out.
  public var effectsDone: Int
  public var callPhase: CallPhase
  /// The cookie of the connection of the call.
  public var callConnection: UInt64
  /// The number of the event that the call requests; 0 before that event is written.
  public var callEvent: UInt64
  /// The number of bytes of the call's message.
  public var callBytes: Int
  /// The cookie of the connection to which the daemon was sending a reply; 0 if it was sending
  /// none.
  public var sending: UInt64
  /// The number of daemons that began to recover from this event log, and did not begin to serve.
  public var attempts: UInt32
  /// Whether the daemon could not write an event to this event log.
  public var isBehind: Bool
  /// Whether the daemon stopped in good order and left no process suspended.
  public var isClean: Bool

  /// The number of successive daemons that may die before they serve clients. After that many
  /// deaths, no daemon recovers from the event log, because one of its records is the likely cause.
  public static let attemptsMax: UInt32 = 16

  /// The reason why no daemon may recover from the event log; nil if a daemon may.
  public var problem: String? {
    if isBehind {
      return "the runtime directory was full, and the last actions of the daemon are missing"
    }
    if attempts >= Self.attemptsMax {
      return "\(attempts) successive daemons died before they served clients"
    }
    return nil
  }
}

/// Reads an event log. The bytes may have any content.
public struct EventLogReader {
  public let start: EventLogStart
  public let daemonState: DaemonState
  /// The scheduler at the start, or the reason why it cannot be read. The daemon's state can be
  /// read in any case.
  public let scheduler: Result<Scheduler, EventLogRefusal>
  public let progress: EventLogProgress
  public private(set) var records: EventLogRecords

  /// Reads the header and the first three records.
  ///
  /// - Parameters:
  ///   - bytes: The event log.
  ///   - boot: The present boot; nil accepts every boot.
  ///   - readAhead: Returns a source that may decode the records on another thread. The bytes must
  ///     outlive that source.
  public init(
    _ bytes: UnsafeRawBufferPointer, boot: BootID?,
    readAhead: (RecordReader) -> any RecordSource = { $0 }
  ) throws(EventLogRefusal) {
    try EventLogLayout.checkHeader(bytes, boot: boot)
    progress = Self.progress(bytes)
    var reader = RecordReader(bytes, from: EventLogLayout.headerBytes)
    let start = reader.firstRecord(.start)
    reader.skipDaemonState()
    let scheduler = reader.firstRecord(.scheduler)
    var source = readAhead(reader)
    self.start = try RecordReader.value(EventLogStart.self, in: start)
    self.scheduler = Result { () throws(EventLogRefusal) in
      try RecordReader.value(Scheduler.self, in: scheduler)
    }
    daemonState = try source.daemonState().get()
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
      sending: word(Place.sending, UInt64.self),
      attempts: word(Place.attempts, UInt32.self),
      isBehind: word(Place.isBehind, UInt32.self) != 0,
      isClean: word(Place.isClean, UInt32.self) != 0)
  }

  /// The offset of the next record, or of the end.
  public var end: Int { records.end }
  /// Returns the next record, or nil at the end or at damage.
  public mutating func next() -> EventLogEntry? { records.next() }
  /// The damage that ``next()`` has found.
  public var damage: EventLogDamage? { records.damage }
}

/// The events and notes of an event log, in order.
public struct EventLogRecords {
  private var source: any RecordSource
  /// The offset of the next record, or of the end.
  public private(set) var end: Int
  /// The damage that ``next()`` has found.
  public var damage: EventLogDamage? { source.damage }

  init(_ source: any RecordSource, from end: Int) {
    self.source = source
    self.end = end
  }

  /// Returns the next record, or nil at the end or at damage.
  public mutating func next() -> EventLogEntry? {
    guard let record = source.next() else { return nil }
    end = record.end
    return record.entry
  }
}

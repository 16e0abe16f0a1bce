import TaskSchedulerCore

/// What an event log begins with: where things stand.
public struct EventLogBeginning {
  let records: [[UInt8]]
  let eventCount: UInt64
  /// Bytes of unfinished messages, of which more may be about to come.
  public let unfinishedCount: Int

  /// The bytes that it takes, the header's included.
  public var count: Int {
    records.reduce(EventLogLayout.headerBytes + 4) {
      $0 + EventLogLayout.recordHeaderBytes + $1.count
    }
  }

  public init(_ start: EventLogStart, _ holdings: Holdings, _ scheduler: Scheduler) {
    func record(_ kind: EventLogLayout.RecordKind, _ value: some Stored) -> [UInt8] {
      var writer = StoredWriter()
      writer.write(byte: kind.rawValue)
      value.write(to: &writer)
      return writer.bytes
    }
    records = [
      record(.start, start), record(.holdings, holdings), record(.scheduler, scheduler),
    ]
    eventCount = start.eventCount
    unfinishedCount = holdings.connections.values.reduce(0) { $0 + $1.input.bytes.count }
  }
}

/// Writes an event log into memory, which the daemon maps onto a file: what is stored outlives the
/// daemon however it dies.
///
/// The memory must be writable, at least ``EventLogLayout/headerBytes`` long, and stay for as long
/// as this is used.
public struct EventLogWriter {
  private let memory: UnsafeMutableRawBufferPointer
  /// Where the next record goes.
  private var end: Int
  private var scratch = StoredWriter()

  /// Bytes that are written, the header's included.
  public var count: Int { end }
  public var capacity: Int { memory.count }

  /// Begins an event log in memory that holds zeros.
  ///
  /// - Returns: nil where the memory is too small for what it begins with.
  public init?(
    in memory: UnsafeMutableRawBufferPointer, boot: BootID, beginning: EventLogBeginning
  ) {
    guard memory.count >= beginning.count else { return nil }
    self.memory = memory
    for (index, byte) in EventLogLayout.magic.enumerated() { memory[index] = byte }
    for (index, byte) in boot.bytes.enumerated() { memory[EventLogLayout.bootPlace + index] = byte }
    Self.writeVersion(to: memory)
    end = EventLogLayout.headerBytes
    // Not by `scratch`, which would keep the memory of the longest for good.
    for record in beginning.records {
      guard append(record: record) else { return nil }
    }
    setEvent(beginning.eventCount)
  }

  /// Continues an event log that was read up to `end`, and erases what follows.
  public init(continuing memory: UnsafeMutableRawBufferPointer, from end: Int) {
    precondition(
      (EventLogLayout.headerBytes...memory.count).contains(end), "no place in an event log")
    self.memory = memory
    self.end = end
    UnsafeMutableRawBufferPointer(rebasing: memory[end...])
      .initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// And the checksum of the header.
  private static func writeVersion(to memory: UnsafeMutableRawBufferPointer) {
    func store(_ value: UInt32, at place: Int) {
      memory.storeBytes(of: value.littleEndian, toByteOffset: place, as: UInt32.self)
    }
    store(EventLogLayout.version, at: EventLogLayout.versionPlace)
    let sum = EventLogLayout.headerSum(UnsafeRawBufferPointer(memory))
    store(sum, at: EventLogLayout.headerSumPlace)
  }

  // MARK: Records

  /// Writes what happened. Returns false, and has written nothing, where there is no room.
  ///
  /// - Parameter call: the call that the event answers.
  public mutating func append(
    _ event: Event, for call: LoggedCall? = nil, at now: Instant
  ) -> Bool {
    scratch.removeAll()
    scratch.write(byte: EventLogLayout.RecordKind.event.rawValue)
    scratch.write(littleEndian: now.nanoseconds)
    call.write(to: &scratch)
    event.write(to: &scratch)
    return append(record: scratch.bytes)
  }

  /// Writes what the daemon does. Returns false, and has written nothing, where there is no room.
  public mutating func append(_ note: Note) -> Bool {
    scratch.removeAll()
    scratch.write(byte: EventLogLayout.RecordKind.note.rawValue)
    note.write(to: &scratch)
    return append(record: scratch.bytes)
  }

  /// Bytes of the record that was to be written last, and what it takes besides.
  public var lastBytes: Int { EventLogLayout.recordHeaderBytes + scratch.bytes.count + 4 }
  /// Bytes that are left for records.
  public var freeBytes: Int { memory.count - end }

  private mutating func append(record: [UInt8]) -> Bool {
    let start = end + EventLogLayout.recordHeaderBytes
    // The next length must be there to be read as 0.
    guard start + record.count + 4 <= memory.count, record.count <= Int(UInt32.max) else {
      return false
    }
    record.withUnsafeBytes { bytes in
      UnsafeMutableRawBufferPointer(rebasing: memory[start..<start + bytes.count])
        .copyMemory(from: bytes)
      memory.storeBytes(
        of: Checksum.crc32(bytes).littleEndian, toByteOffset: end + 4, as: UInt32.self)
      memory.storeBytes(
        of: UInt32(bytes.count).littleEndian, toByteOffset: end, as: UInt32.self)
    }
    end = start + record.count
    return true
  }

  // MARK: Progress

  /// Takes over how far another event log's event and call have come.
  public func copyProgress(from other: EventLogWriter) {
    let range = EventLogLayout.Progress.event..<EventLogLayout.Progress.end
    UnsafeMutableRawBufferPointer(rebasing: memory[range])
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: other.memory[range]))
  }

  private func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at place: Int) {
    memory.storeBytes(of: value.littleEndian, toByteOffset: place, as: Value.self)
  }

  /// The event of this number is about to be written, and none of its effects is carried out.
  public func setEvent(_ number: UInt64) {
    // In this order: of an event that is known by its number, none is done yet.
    store(number, at: EventLogLayout.Progress.event)
    setEffectsDone(0)
  }

  /// So many effects of the event have been carried out.
  public func setEffectsDone(_ count: Int) {
    store(UInt32(count), at: EventLogLayout.Progress.effectsDone)
  }

  /// A call's message was looked at, or a part of one.
  ///
  /// - Parameter bytes: those of the message that are in the socket, its NUL included; of a part,
  ///   those that are known of the message when it has been taken.
  public func setCall(
    connection: UInt64, bytes: Int, phase: CallPhase = .peeked
  ) {
    store(connection, at: EventLogLayout.Progress.callConnection)
    store(0 as UInt64, at: EventLogLayout.Progress.callEvent)
    store(UInt32(clamping: bytes), at: EventLogLayout.Progress.callBytes)
    setCallPhase(phase)
  }

  /// The event of this number is what the call asks for.
  public func setCallEvent(_ number: UInt64) {
    store(number, at: EventLogLayout.Progress.callEvent)
  }

  /// How far the call has come.
  public func setCallPhase(_ phase: CallPhase) {
    store(phase.rawValue, at: EventLogLayout.Progress.callPhase)
  }

  /// An answer is being sent there, and it cannot be known whether it has left; 0 is none.
  public func setSending(_ connection: UInt64) {
    store(connection, at: EventLogLayout.Progress.sending)
  }

  /// How often a daemon has tried to go on from this event log and not got as far as serving.
  public func setAttempts(_ count: UInt32) { store(count, at: EventLogLayout.Progress.attempts) }

  /// Whether something happened that could not be written here.
  public func setBehind(_ isBehind: Bool) {
    store(isBehind ? 1 as UInt32 : 0, at: EventLogLayout.Progress.isBehind)
  }

  /// Notes in an event log whose daemon is gone that every process was let run.
  public static func setClean(in memory: UnsafeMutableRawBufferPointer) {
    guard memory.count >= EventLogLayout.headerBytes else { return }
    memory.storeBytes(
      of: (1 as UInt32).littleEndian, toByteOffset: EventLogLayout.Progress.isClean,
      as: UInt32.self)
  }

  /// Whether the daemon stopped in good order, with every process let run.
  public func setClean(_ isClean: Bool) {
    store(isClean ? 1 as UInt32 : 0, at: EventLogLayout.Progress.isClean)
  }
}

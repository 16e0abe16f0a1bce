import TaskSchedulerCore

/// The state with which an event log begins, encoded as its first three records.
public struct EventLogInitialRecords {
  let records: [[UInt8]]
  let eventCount: UInt64
  /// The number of received bytes of incomplete messages. The next file needs space for the rest of
  /// these messages.
  public let unfinishedCount: Int

  /// The size in bytes, including the header.
  public var count: Int {
    records.reduce(EventLogLayout.headerBytes + 4) {
      $0 + EventLogLayout.recordHeaderBytes + $1.count
    }
  }

  public init(_ start: EventLogStart, _ daemonState: DaemonState, _ scheduler: Scheduler) {
    func record(_ kind: EventLogLayout.RecordKind, _ value: some Stored) -> [UInt8] {
      var writer = StoredWriter()
      writer.write(byte: kind.rawValue)
      value.write(to: &writer)
      return writer.bytes
    }
    records = [
      record(.start, start), record(.daemonState, daemonState), record(.scheduler, scheduler),
    ]
    eventCount = start.eventCount
    unfinishedCount = daemonState.connections.values.reduce(0) { $0 + $1.input.bytes.count }
  }
}

/// Writes an event log into memory.
///
/// In the daemon, the memory is a mapped file, so written records survive any death of the daemon.
/// The memory must be writable, have at least ``EventLogLayout/headerBytes`` bytes, and outlive the
/// writer.
public struct EventLogWriter {
  private let memory: UnsafeMutableRawBufferPointer
  /// The offset of the next record.
  private var end: Int
  private var scratch = StoredWriter()

  /// The number of written bytes, including the header.
  public var count: Int { end }
  public var capacity: Int { memory.count }

  /// Begins an event log in memory that contains only zeros, or returns nil if the memory is too
  /// small for the first records.
  public init?(
    in memory: UnsafeMutableRawBufferPointer, boot: BootID, initialRecords: EventLogInitialRecords
  ) {
    guard memory.count >= initialRecords.count else { return nil }
    self.memory = memory
    for (index, byte) in EventLogLayout.magic.enumerated() { memory[index] = byte }
    for (index, byte) in boot.bytes.enumerated() { memory[EventLogLayout.bootPlace + index] = byte }
    Self.writeVersion(to: memory)
    end = EventLogLayout.headerBytes
    // `scratch` is not used here, because it would keep as much memory as the longest record needs.
    for record in initialRecords.records {
      guard append(record: record) else { return nil }
    }
    setEvent(initialRecords.eventCount)
  }

  /// Continues an event log that was read up to the offset `end`, and erases all bytes from `end`
  /// on.
  public init(continuing memory: UnsafeMutableRawBufferPointer, from end: Int) {
    precondition(
      (EventLogLayout.headerBytes...memory.count).contains(end),
      "the end is outside of the event log")
    self.memory = memory
    self.end = end
    UnsafeMutableRawBufferPointer(rebasing: memory[end...])
      .initializeMemory(as: UInt8.self, repeating: 0)
  }

  /// Writes the version of the format and the checksum of the header.
  private static func writeVersion(to memory: UnsafeMutableRawBufferPointer) {
    func store(_ value: UInt32, at place: Int) {
      memory.storeBytes(of: value.littleEndian, toByteOffset: place, as: UInt32.self)
    }
    store(EventLogLayout.version, at: EventLogLayout.versionPlace)
    let sum = EventLogLayout.headerSum(UnsafeRawBufferPointer(memory))
    store(sum, at: EventLogLayout.headerSumPlace)
  }

  // MARK: Records

  /// Appends an event. Returns false and writes nothing if there is not enough room.
  ///
  /// - Parameter call: The call that requested the event; nil if no call did.
  public mutating func append(
    _ event: Event, for call: LoggedCall? = nil, at now: Instant
  ) -> Bool {
    scratch.removeAll()
    scratch.write(byte: EventLogLayout.RecordKind.event.rawValue)
    scratch.write(littleEndian: now.nanoseconds)
    // These two lines write the call as an optional value. The generic code for optional values
    // would copy the call.
    (call != nil).write(to: &scratch)
    call?.write(to: &scratch)
    event.write(to: &scratch)
    return append(record: scratch.bytes)
  }

  /// Appends a note. Returns false and writes nothing if there is not enough room.
  public mutating func append(_ note: Note) -> Bool {
    scratch.removeAll()
    scratch.write(byte: EventLogLayout.RecordKind.note.rawValue)
    note.write(to: &scratch)
    return append(record: scratch.bytes)
  }

  /// The number of bytes that the last appended or refused record requires.
  public var lastBytes: Int { EventLogLayout.recordHeaderBytes + scratch.bytes.count + 4 }
  /// The number of free bytes.
  public var freeBytes: Int { memory.count - end }

  private mutating func append(record: [UInt8]) -> Bool {
    let start = end + EventLogLayout.recordHeaderBytes
    // The length field of the next record must exist, so that a reader finds 0 there.
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

  /// Copies the progress of another event log.
  public func copyProgress(from other: EventLogWriter) {
    let range = EventLogLayout.Progress.event..<EventLogLayout.Progress.end
    UnsafeMutableRawBufferPointer(rebasing: memory[range])
      .copyMemory(from: UnsafeRawBufferPointer(rebasing: other.memory[range]))
  }

  private func store<Value: FixedWidthInteger & BitwiseCopyable>(_ value: Value, at place: Int) {
    memory.storeBytes(of: value.littleEndian, toByteOffset: place, as: Value.self)
  }

  /// Records that the daemon is about to write the event with this number, and has carried out none
  /// of its effects.
  public func setEvent(_ number: UInt64) {
    // If the daemon dies between the two writes, the old count of effects stands beside the new
    // number. The count has no meaning then, because the event is not in the event log yet.
    store(number, at: EventLogLayout.Progress.event)
    setEffectsDone(0)
  }

  /// Records how many effects of the event have been carried out.
  public func setEffectsDone(_ count: Int) {
    store(UInt32(count), at: EventLogLayout.Progress.effectsDone)
  }

  /// Records that the daemon begins to carry out a call, or to receive a part of its message.
  ///
  /// - Parameter bytes: The number of bytes of the message in the socket, including its NUL. For a
  ///   part of a message, the number of bytes of the message received so far, including the part.
  public func setCall(
    connection: UInt64, bytes: Int, phase: CallPhase = .peeked
  ) {
    store(connection, at: EventLogLayout.Progress.callConnection)
    store(0 as UInt64, at: EventLogLayout.Progress.callEvent)
    store(UInt32(clamping: bytes), at: EventLogLayout.Progress.callBytes)
    setCallPhase(phase)
  }

  /// Records the number of the event that the call requests.
  public func setCallEvent(_ number: UInt64) {
    store(number, at: EventLogLayout.Progress.callEvent)
  }

  /// Records the phase of the call.
  public func setCallPhase(_ phase: CallPhase) {
    store(phase.rawValue, at: EventLogLayout.Progress.callPhase)
  }

  /// Records that the daemon sends a reply on a connection. If the daemon dies, its successor
  /// cannot know whether the reply was sent. 0 stands for no connection.
  public func setSending(_ connection: UInt64) {
    store(connection, at: EventLogLayout.Progress.sending)
  }

  /// Records how many daemons began to recover from this event log, but did not begin to serve.
  public func setAttempts(_ count: UInt32) { store(count, at: EventLogLayout.Progress.attempts) }

  /// Records whether the daemon could not write an event to this event log.
  public func setBehind(_ isBehind: Bool) {
    store(isBehind ? 1 as UInt32 : 0, at: EventLogLayout.Progress.isBehind)
  }

  /// Marks the event log of a dead daemon as clean: all processes that the daemon had suspended
  /// have been resumed.
  public static func setClean(in memory: UnsafeMutableRawBufferPointer) {
    guard memory.count >= EventLogLayout.headerBytes else { return }
    memory.storeBytes(
      of: (1 as UInt32).littleEndian, toByteOffset: EventLogLayout.Progress.isClean,
      as: UInt32.self)
  }

  /// Records whether the daemon stopped in good order and left no process suspended.
  public func setClean(_ isClean: Bool) {
    store(isClean ? 1 as UInt32 : 0, at: EventLogLayout.Progress.isClean)
  }
}

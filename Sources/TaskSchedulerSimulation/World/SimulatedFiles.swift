import TaskSchedulerCore
import TaskSchedulerEventLog

/// The files of an event log in the simulated world. The files outlive the daemon.
final class SimulatedFiles: EventLogFiles {
  private final class File: EventLogFile {
    let bytes: UnsafeMutableRawBufferPointer

    init(bytesCount: Int) {
      bytes = .allocate(byteCount: bytesCount, alignment: 16)
      erase()
    }

    deinit { bytes.deallocate() }

    func erase() { bytes.initializeMemory(as: UInt8.self, repeating: 0) }
  }

  /// A small capacity, so that the daemon often begins a new file.
  static let room = EventLogCapacity(bytes: 4 << 10, reserveBytes: 1 << 10)
  static let boot = BootID("00000000-0000-4000-8000-000000000001")
  static let version = "simulation"

  private(set) var numberLast: UInt64?
  private var current: File?
  private var unfinished: File?
  private var spare: File?

  func make(_ number: UInt64, bytesCount: Int, least: Int) -> any EventLogFile {
    let length = (bytesCount + 0xFFF) & ~0xFFF
    let file: File
    if let spare, spare.bytes.count >= length {
      file = spare
      file.erase()
      self.spare = nil
    } else {
      file = File(bytesCount: length)
    }
    unfinished = file
    return file
  }

  func finish(_ number: UInt64) {
    spare = current
    current = unfinished
    numberLast = number
  }

  func keepSpare(bytesCount: Int) {}

  // MARK: After the daemon's death

  /// Removes the last record, as if the daemon had died while it wrote the record.
  func removeLastRecord() {
    guard let bytes = current?.bytes else { return }
    var last = 0
    var next = EventLogLayout.headerBytes
    while true {
      let count = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: next, as: UInt32.self))
      if count == 0 { break }
      last = next
      next += EventLogLayout.recordHeaderBytes + Int(count)
    }
    bytes.storeBytes(of: 0, toByteOffset: last, as: UInt32.self)
  }

  /// Replays the event log as the next daemon does.
  func replay(at now: Instant) throws(EventLogRefusal) -> Replay {
    guard let current else { throw .notAnEventLog }
    return try Replay(UnsafeRawBufferPointer(current.bytes), boot: Self.boot, now: now)
  }

  /// Begins the event log of the first daemon.
  func begin(_ scheduler: Scheduler, at now: Instant) -> EventLog {
    EventLog(
      self, boot: Self.boot, version: Self.version, scheduler: scheduler, at: now,
      room: Self.room, report: Self.refuse)
  }

  /// Returns the current event log, which the next daemon continues.
  func resume(_ replay: borrowing Replay) -> EventLog {
    guard let current, let numberLast else {
      preconditionFailure("there is no event log to continue")
    }
    return EventLog(
      continuing: current, numberLast, replay, in: self, boot: Self.boot, version: Self.version,
      room: Self.room, report: Self.refuse)
  }

  private static func refuse(_ condition: EventLogCondition) {
    preconditionFailure("memory has room for an event log: \(condition)")
  }
}

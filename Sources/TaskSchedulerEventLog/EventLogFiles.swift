/// The files of an event log. The daemon maps each file into its memory.
public protocol EventLogFiles: AnyObject {
  /// The highest number of a file; nil if there is no file.
  var numberLast: UInt64? { get }
  /// Creates the file for a new event log, filled with zeros. ``finish(_:)`` makes the event log
  /// current.
  ///
  /// - Parameters:
  ///   - bytesCount: The length of the file. The file may be slightly longer.
  ///   - least: The minimum length if there is no space for `bytesCount`.
  func make(_ number: UInt64, bytesCount: Int, least: Int) throws -> any EventLogFile
  /// Makes a complete event log current, in place of all earlier ones.
  func finish(_ number: UInt64) throws
  /// Reserves disk space for the file of the next event log.
  func keepSpare(bytesCount: Int) throws
}

/// One file of an event log, accessed as memory.
public protocol EventLogFile: AnyObject {
  /// The bytes, valid as long as this object exists.
  var bytes: UnsafeMutableRawBufferPointer { get }
}

/// A change of the condition of an event log.
public enum EventLogCondition: Equatable, Sendable {
  /// The event log lacks events, and will lack more.
  case behind(problem: String)
  /// The event log contains the current state again.
  case whole
  /// The event log contains all events. When its file is full, there may be no space for the next
  /// file.
  case nextHasNoRoom(problem: String)
  case nextHasRoom
}

/// The space for records in a file of an event log.
public struct EventLogCapacity: Equatable, Sendable {
  /// The minimum space for records after the initial state. An event takes about 100 bytes. After a
  /// crash, the next daemon handles the events of a full file in about 20 ms.
  public var bytes: Int
  /// The part of the space that is reserved for a daemon that takes over. With many applications,
  /// it takes tens of milliseconds to begin a new file. The reserve lets that daemon serve clients
  /// first.
  public var reserveBytes: Int

  public init(bytes: Int = 256 << 10, reserveBytes: Int = 64 << 10) {
    self.bytes = bytes
    self.reserveBytes = reserveBytes
  }
}

/// Memory in place of a file. The content is lost when the daemon ends.
final class EventLogMemoryFile: EventLogFile {
  let bytes: UnsafeMutableRawBufferPointer

  init(bytesCount: Int) {
    bytes = .allocate(byteCount: bytesCount, alignment: 16)
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { bytes.deallocate() }
}

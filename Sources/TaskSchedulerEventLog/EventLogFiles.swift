/// The files of an event log. The daemon maps them into its memory.
public protocol EventLogFiles: AnyObject {
  /// The highest number of a file so far; nil if there is none.
  var numberLast: UInt64? { get }
  /// Creates the file for a new event log, filled with zeros. It is not in force yet.
  ///
  /// - Parameters:
  ///   - bytesCount: The length of the file. It may become slightly longer.
  ///   - least: The minimum length if there is no room for `bytesCount`.
  func make(_ number: UInt64, bytesCount: Int, least: Int) throws -> any EventLogFile
  /// Puts a complete event log in force, in place of all earlier ones.
  func finish(_ number: UInt64) throws
  /// Ensures that there is room for the next event log.
  func keepSpare(bytesCount: Int) throws
}

/// One file of an event log, as memory.
public protocol EventLogFile: AnyObject {
  /// Valid as long as this object.
  var bytes: UnsafeMutableRawBufferPointer { get }
}

/// A change of what an event log can promise.
public enum EventLogCondition: Equatable, Sendable {
  /// The event log misses events until further notice.
  case behind(problem: String)
  /// The event log has the current state again.
  case whole
  /// A crash loses nothing, but when the file is full, the event log may fall behind.
  case nextHasNoRoom(problem: String)
  case nextHasRoom
}

/// How many records a file of an event log has room for.
public struct EventLogCapacity: Equatable, Sendable {
  /// The room for records after the state. An event takes about 100 bytes; after a crash, the next
  /// daemon handles as many as fit in about 20 ms.
  public var bytes: Int
  /// The part of the room that is reserved for a daemon that takes over. With many applications,
  /// writing the state takes tens of milliseconds, and the daemon must serve first.
  public var reserveBytes: Int

  public init(bytes: Int = 256 << 10, reserveBytes: Int = 64 << 10) {
    self.bytes = bytes
    self.reserveBytes = reserveBytes
  }
}

/// Memory that ends with the daemon.
final class EventLogMemoryFile: EventLogFile {
  let bytes: UnsafeMutableRawBufferPointer

  init(bytesCount: Int) {
    bytes = .allocate(byteCount: bytesCount, alignment: 16)
    bytes.initializeMemory(as: UInt8.self, repeating: 0)
  }

  deinit { bytes.deallocate() }
}

import TaskSchedulerCore

/// The format of the event log: a page that the daemon changes in place, followed by records.
///
/// The page begins with the magic (8 bytes), the version of the format (4), 4 unused bytes, the id
/// of the boot (16) and the CRC-32 of these 32 bytes (4). While the daemon carries out events, it
/// changes the fields at the offsets in ``Progress``.
///
/// A record has four parts: a length (4 bytes), a CRC-32 (4), the kind of the record (1), and a
/// value. The length and the CRC-32 cover the kind and the value. The value of an event begins with
/// the instant of the event (8 bytes). The daemon writes the length last, so that a record is
/// either complete or, with length 0, absent. Numbers outside of values are little-endian.
/// `docs/event-log.md` lists the values.
public enum EventLogLayout {
  /// The first bytes of an event log: a byte that no text begins with, and "tschedJ".
  static let magic: [UInt8] = [0x89, 0x74, 0x73, 0x63, 0x68, 0x65, 0x64, 0x4A]
  /// The version of the format. It increases when the format of any stored value changes.
  public static let version: UInt32 = 1
  public static let headerBytes = 4096
  static let versionPlace = 8
  static let bootPlace = 16
  static let headerSumPlace = 32
  package static let recordHeaderBytes = 8

  /// The kind of a record's value.
  enum RecordKind: UInt8 {
    /// ``EventLogStart``, the first record.
    case start = 1
    /// ``DaemonState``, the second record.
    case daemonState
    /// `Scheduler`, the third record.
    case scheduler
    case event
    case note
  }

  /// Checks that the bytes begin with the header of an event log, and that the event log has this
  /// version of the format and belongs to the given boot.
  ///
  /// - Parameter boot: The boot; nil accepts every boot.
  static func checkHeader(
    _ bytes: UnsafeRawBufferPointer, boot: BootID?
  ) throws(EventLogRefusal) {
    guard bytes.count >= headerBytes, bytes.prefix(magic.count).elementsEqual(magic)
    else { throw .notAnEventLog }
    let version = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: versionPlace, as: UInt32.self))
    guard version == Self.version else { throw .version(version) }
    let sum = UInt32(
      littleEndian: bytes.loadUnaligned(fromByteOffset: headerSumPlace, as: UInt32.self))
    guard sum == headerSum(bytes) else {
      throw .damagedStart("the checksum of the header is wrong")
    }
    if let boot, !bytes[bootPlace..<bootPlace + 16].elementsEqual(boot.bytes) { throw .otherBoot }
  }

  /// Returns the checksum of a header's bytes.
  static func headerSum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    Checksum.crc32(UnsafeRawBufferPointer(rebasing: bytes[..<headerSumPlace]))
  }

  /// The offsets of the words in the header that the daemon writes while it carries out events.
  enum Progress {
    static let event = 64
    static let effectsDone = 72
    static let callPhase = 76
    static let callConnection = 80
    static let callEvent = 88
    static let callBytes = 96
    static let sending = 104
    static let attempts = 112
    static let isBehind = 116
    static let isClean = 120
    static let end = 124
  }
}

/// The phase of the client's call that the daemon carries out.
public enum CallPhase: UInt32, Sendable {
  /// The daemon carries out no call.
  case none
  /// The daemon has read the message, which is still in the socket.
  case peeked
  /// The daemon is removing a whole message from the socket, or a part that carries descriptors.
  case taking
  /// The daemon has removed the message from the socket and has not replied.
  case taken
  /// The daemon is removing a part of a message from the socket. The part carries no descriptors.
  /// The peek offset of the socket (SO_PEEK_OFF) shows how much of the part is left.
  case takingPart
}

/// The identity of a boot: `/proc/sys/kernel/random/boot_id` as 16 bytes. Processes and connections
/// of an earlier boot no longer exist.
public struct BootID: Hashable, Sendable {
  let bytes: [UInt8]

  /// Creates the identity of a boot.
  ///
  /// - Parameter text: A UUID.
  public init(_ text: String) {
    let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
    var bytes = stride(from: 0, to: min(32, digits.count & ~1), by: 2).map { index in
      UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
    }
    bytes += Array(repeating: 0, count: 16 - bytes.count)
    self.bytes = bytes
  }
}

/// The first record of an event log, which tells where in the history the event log begins.
public struct EventLogStart: Equatable, Sendable {
  /// The version of the daemon that wrote the event log, as text for users.
  public var writer: String
  /// The number of events before the start of this event log, since the scheduler was created.
  public var eventCount: UInt64
  /// The highest number of a request before the start of this event log.
  public var requestLast: UInt64
  /// The instant at which the event log begins.
  public var at: Instant
  /// The remaining effects of the current event, if the event log begins while the daemon carries
  /// out an event; otherwise empty.
  public var effects: [Effect] = []
  /// The number of effects of that event that the daemon carried out before this event log began.
  public var effectsDone = 0
}

extension EventLogStart {
  public init(writer: String, eventCount: UInt64, requestLast: UInt64, at: Instant) {
    self.writer = writer
    self.eventCount = eventCount
    self.requestLast = requestLast
    self.at = at
  }
}

import TaskSchedulerCore

/// The format of the event log: a page that the daemon changes in place, then records.
///
/// The page begins with the magic (8 bytes), the version of the format (4), 4 unused bytes, the
/// boot (16) and the CRC-32 of these 32 bytes (4). The daemon writes the words of ``Progress``
/// while it carries out events. A record is its length (4 bytes), the CRC-32 of what follows (4),
/// its kind (1) and a value as `Stored` writes it; before that value, an event has its instant (8).
/// Numbers outside of values are little-endian. The length is written last, so that a record is
/// either complete or, with length 0, absent. `docs/event-log.md` lists the values.
public enum EventLogLayout {
  /// "tschedJ" and a byte that no text begins with.
  static let magic: [UInt8] = [0x89, 0x74, 0x73, 0x63, 0x68, 0x65, 0x64, 0x4A]
  /// The version of the format. Every change of a stored value changes it.
  public static let version: UInt32 = 1
  public static let headerBytes = 4096
  static let versionPlace = 8
  static let bootPlace = 16
  static let headerSumPlace = 32
  package static let recordHeaderBytes = 8

  /// What a record holds.
  enum RecordKind: UInt8 {
    /// ``EventLogStart``: always the first.
    case start = 1
    /// ``Holdings``: the second.
    case holdings
    /// `Scheduler`: the third.
    case scheduler
    case event
    case note
  }

  /// Checks that the header is that of an event log of this boot, in this version of the format.
  ///
  /// - Parameter boot: nil is any.
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
    guard sum == headerSum(bytes) else { throw .damagedStart("its header is damaged") }
    if let boot, !bytes[bootPlace..<bootPlace + 16].elementsEqual(boot.bytes) { throw .otherBoot }
  }

  /// What the header's checksum is to be.
  static func headerSum(_ bytes: UnsafeRawBufferPointer) -> UInt32 {
    Checksum.crc32(UnsafeRawBufferPointer(rebasing: bytes[..<headerSumPlace]))
  }

  /// The words of the header that are written while events are carried out: where they stand.
  enum Progress {
    static let event = 64
    static let effectsDone = 72
    static let callPhase = 76
    static let callConnection = 80
    static let callEvent = 88
    static let callBytes = 96
    static let callIsOneway = 100
    static let sending = 104
    static let attempts = 112
    static let isBehind = 116
    static let isClean = 120
    static let end = 124
  }
}

/// How far the call has come that is being carried out.
public enum CallPhase: UInt32, Sendable {
  /// No call is being carried out.
  case none
  /// Its message was looked at, and is in the socket still.
  case peeked
  /// Its message, or a part of one with descriptors, is being taken off the socket.
  case taking
  /// Its message is off the socket, and has not been answered.
  case taken
  /// A part of its message is being taken: the socket's mark tells how much of that is left.
  case takingPart
}

/// Which run of the machine: /proc/sys/kernel/random/boot_id as 16 bytes. What was held before
/// another is gone.
public struct BootID: Hashable, Sendable {
  let bytes: [UInt8]

  /// - Parameter text: a UUID.
  public init(_ text: String) {
    let digits = text.utf8.filter { $0 != UInt8(ascii: "-") }
    var bytes = stride(from: 0, to: min(32, digits.count & ~1), by: 2).map { index in
      UInt8(String(decoding: digits[index...index + 1], as: UTF8.self), radix: 16) ?? 0
    }
    bytes += Array(repeating: 0, count: 16 - bytes.count)
    self.bytes = bytes
  }
}

/// What an event log begins with.
public struct EventLogStart: Hashable, Sendable {
  /// The daemon's version that wrote it, for people.
  public var writer: String
  /// How many events there were before.
  public var eventCount: UInt64
  /// The highest number of a request before.
  public var requestLast: UInt64
  /// When it was begun.
  public var at: Instant
  /// Where it was begun while an event was being carried out: the effects that were left, and
  /// how many there were before them.
  public var effects: [Effect] = []
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

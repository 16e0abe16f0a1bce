import DequeModule
import TaskSchedulerCore

/// The newest log records about each user's applications, for users who may not read the journal.
///
/// journald lets a user read only the records of the user's own processes. The system's daemon runs
/// as root, so its records belong to root, even those about a user's application. The daemon
/// therefore keeps the newest records in memory, and returns to each user the records about that
/// user's applications (contract §16).
struct RecentRecords {
  /// One record, with the message that the owner of the application may read.
  struct Entry {
    /// The position of the record among the records of all users.
    var number: UInt64
    var at: Instant
    var level: LogLevel
    var application: ApplicationKey
    var leader: Leader?
    var message: String
  }

  /// The limits for one user's records: their number, and the total size of their messages in
  /// bytes.
  static let recordsMax = 500
  static let bytesMax = 64 << 10
  /// The maximum size of a message, in bytes. The daemon cuts longer messages.
  static let messageBytesMax = 1024
  /// The maximum number of users. Beyond it, the daemon drops all records of the user whose
  /// applications have caused no record for the longest time.
  static let usersMax = 128

  fileprivate struct Ring {
    var entries: Deque<Entry> = []
    var bytes = 0
  }

  private var rings: [UserID: Ring] = [:]
  private var numberLast: UInt64 = 0

  mutating func add(_ record: Record, _ level: LogLevel, _ message: String, at now: Instant) {
    let owner = record.application.owner
    if rings[owner] == nil, rings.count >= Self.usersMax { removeOldest() }
    numberLast += 1
    let entry = Entry(
      number: numberLast, at: now, level: level, application: record.application,
      leader: record.leader, message: Self.cut(message))
    rings[owner, default: Ring()].add(entry)
  }

  /// Returns the newest records, in the order in which the daemon wrote them.
  ///
  /// - Parameters:
  ///   - owner: The owner of the applications; nil for all users.
  ///   - number: Returns only records before this number; nil for no limit.
  func newest(
    _ count: Int, before number: UInt64?, of owner: UserID?, _ application: ApplicationID?
  ) -> [Entry] {
    let chosen = owner.map { rings[$0].map { [$0] } ?? [] } ?? Array(rings.values)
    let limit = number ?? .max
    var found: [Entry] = []
    for ring in chosen {
      found += ring.entries.reversed().lazy
        .filter { $0.number < limit && (application == nil || $0.application.id == application) }
        .prefix(count)
    }
    return Array(found.sorted { $0.number < $1.number }.suffix(count))
  }

  private mutating func removeOldest() {
    let newest = rings.mapValues { $0.entries.last?.number ?? 0 }
    if let stalest = newest.min(by: { $0.value < $1.value })?.key { rings[stalest] = nil }
  }

  /// Returns the message, cut to the size limit at the boundary of a Unicode scalar.
  private static func cut(_ message: String) -> String {
    guard message.utf8.count > messageBytesMax else { return message }
    var bytes = 0
    let scalars = message.unicodeScalars.prefix {
      bytes += UTF8.width($0)
      return bytes <= messageBytesMax - 3
    }
    return String(String.UnicodeScalarView(scalars)) + "…"
  }
}

extension RecentRecords.Ring {
  fileprivate mutating func add(_ entry: RecentRecords.Entry) {
    entries.append(entry)
    bytes += entry.message.utf8.count
    while entries.count > RecentRecords.recordsMax || bytes > RecentRecords.bytesMax,
      let oldest = entries.popFirst()
    {
      bytes -= oldest.message.utf8.count
    }
  }
}

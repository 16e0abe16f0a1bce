import DequeModule
import TaskSchedulerCore

/// The newest records of the log, kept for users who may not read the journal.
///
/// journald lets a user read what that user's own processes have written. The system's daemon is
/// root's, and journald takes no word of it about whom a record is for. So the daemon keeps some
/// itself and hands them out by its own rule (contract §16): to each user those about that user's
/// own applications. They are in memory, and gone when the daemon has ended.
struct RecentRecords {
  /// One record, as the log has it.
  struct Entry {
    /// Counts up over all users' records.
    var number: UInt64
    var at: Instant
    var level: LogLevel
    var application: ApplicationKey
    var leader: Leader?
    var message: String
  }

  /// How many are kept of one user's applications, and how many bytes their messages have in all.
  static let recordsMax = 500
  static let bytesMax = 64 << 10
  /// Longer messages are cut.
  static let messageBytesMax = 1024
  /// Of how many users: of one more, that user's are dropped whose newest record is the oldest.
  static let usersMax = 128

  fileprivate struct Ring {
    var entries: Deque<Entry> = []
    var bytes = 0
  }

  private var rings: [UserID: Ring] = [:]
  private var numberLast: UInt64 = 0

  mutating func add(_ record: Record, _ level: LogLevel, _ message: String, at now: Instant) {
    let owner = record.application.owner
    if rings[owner] == nil, rings.count >= Self.usersMax { dropStalest() }
    numberLast += 1
    let entry = Entry(
      number: numberLast, at: now, level: level, application: record.application,
      leader: record.leader, message: Self.cut(message))
    rings[owner, default: Ring()].add(entry)
  }

  /// The newest records before one, the oldest first.
  ///
  /// - Parameters:
  ///   - owner: nil for those of all users.
  ///   - number: records from this one on are left out; nil for none.
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

  private mutating func dropStalest() {
    let newest = rings.mapValues { $0.entries.last?.number ?? 0 }
    if let stalest = newest.min(by: { $0.value < $1.value })?.key { rings[stalest] = nil }
  }

  /// Cut between characters' scalars.
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

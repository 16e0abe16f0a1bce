/// The events that an instance was woken for and is handling (contract §5): each entitles it to run
/// until it is acknowledged or its time is over.
struct HandledEvents: Hashable, Sendable {
  struct Entry: Hashable {
    let id: CallbackID
    let notice: Notice
    var endsAt: Instant
  }

  /// Oldest first.
  private(set) var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  /// When the time of the next of them is over.
  var nextEnd: Instant? { entries.map(\.endsAt).min() }

  /// What the application was told of them, in order.
  var notices: [Notice] { entries.map(\.notice) }

  mutating func begin(_ id: CallbackID, _ notice: Notice, until endsAt: Instant) {
    entries.append(Entry(id: id, notice: notice, endsAt: endsAt))
  }

  /// - Returns: whether it was being handled.
  mutating func acknowledge(_ id: CallbackID) -> Bool {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
    entries.remove(at: index)
    return true
  }

  /// - Returns: whether the time of one of them was over.
  mutating func endIfOver(at now: Instant) -> Bool {
    let count = entries.count
    entries.removeAll { $0.endsAt <= now }
    return entries.count < count
  }

  /// The application could do nothing meanwhile: all have their time until then.
  mutating func extend(until endsAt: Instant) {
    for index in entries.indices { entries[index].endsAt = max(entries[index].endsAt, endsAt) }
  }
}

/// What an application has yet to be told, when it has its event stream open.
struct Inbox: Hashable, Sendable {
  /// A person who chooses more notifications than that before the application listens is not there.
  private static let noticesMax = 64

  private(set) var notices: [Notice] = []
  /// The number of the newest system change that it has heard of.
  var changesHeard: UInt64 = 0
  /// The stretch of pressure on memory that it was warned of last.
  var memoryHeard: MemoryHeard?

  mutating func add(_ notice: Notice) {
    if notices.count < Self.noticesMax { notices.append(notice) }
  }

  mutating func takeNotices() -> [Notice] {
    defer { notices = [] }
    return notices
  }
}

/// A stretch of pressure on memory, by its number, and when an instance was warned of it.
struct MemoryHeard: Hashable {
  var episode: UInt64
  var at: Instant
}

/// The events that an instance was woken for and handles (contract §5). Each entitles the instance
/// to run until it acknowledges the event or the time for the event ends.
struct HandledEvents: Equatable, Sendable {
  struct Entry: Equatable {
    let id: CallbackID
    let notice: Notice
    var endsAt: Instant
  }

  /// The events, the oldest first.
  private(set) var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  /// When the time of the next event ends.
  var nextEnd: Instant? { entries.map(\.endsAt).min() }

  /// What the application was told about the events, in order.
  var notices: [Notice] { entries.map(\.notice) }

  mutating func begin(_ id: CallbackID, _ notice: Notice, until endsAt: Instant) {
    entries.append(Entry(id: id, notice: notice, endsAt: endsAt))
  }

  /// - Returns: Whether the event was being handled.
  mutating func acknowledge(_ id: CallbackID) -> Bool {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
    entries.remove(at: index)
    return true
  }

  /// Removes the events with no time left. Returns whether there were any.
  mutating func endIfOver(at now: Instant) -> Bool {
    let count = entries.count
    entries.removeAll { $0.endsAt <= now }
    return entries.count < count
  }

  /// Extends the time of all events, because the application could not handle them meanwhile.
  mutating func extend(until endsAt: Instant) {
    for index in entries.indices { entries[index].endsAt = max(entries[index].endsAt, endsAt) }
  }
}

/// Messages that an application receives when it opens its event stream.
struct Inbox: Equatable, Sendable {
  /// The maximum of notices. No person chooses more notifications before an application has opened
  /// its stream.
  private static let noticesMax = 64

  private(set) var notices: [Notice] = []
  /// The number of the newest system change that the application has heard of.
  var changesDelivered: UInt64 = 0
  /// The last episode of memory pressure that the application was warned of.
  var memoryWarning: DeliveredMemoryWarning?

  mutating func add(_ notice: Notice) {
    if notices.count < Self.noticesMax { notices.append(notice) }
  }

  mutating func takeNotices() -> [Notice] {
    defer { notices = [] }
    return notices
  }
}

/// An episode of memory pressure, by its number, and when an instance was warned of it.
struct DeliveredMemoryWarning: Equatable {
  var episode: UInt64
  var at: Instant
}

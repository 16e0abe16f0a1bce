/// The events that resumed an instance and that the instance is handling (contract §5). Each event
/// entitles the instance to run until it acknowledges the event or the time for the event ends.
struct HandledEvents: Equatable, Sendable {
  struct Entry: Equatable {
    let id: CallbackID
    let notice: Notice
    var endsAt: Instant
  }

  /// The events, the oldest first.
  private(set) var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  /// The earliest instant at which the time for one of the events ends.
  var nextEnd: Instant? { entries.map(\.endsAt).min() }

  /// The notices that the application received about the events, in order.
  var notices: [Notice] { entries.map(\.notice) }

  mutating func begin(_ id: CallbackID, _ notice: Notice, until endsAt: Instant) {
    entries.append(Entry(id: id, notice: notice, endsAt: endsAt))
  }

  /// Removes an event that the instance has acknowledged.
  ///
  /// - Returns: Whether the instance was handling the event.
  mutating func acknowledge(_ id: CallbackID) -> Bool {
    guard let index = entries.firstIndex(where: { $0.id == id }) else { return false }
    entries.remove(at: index)
    return true
  }

  /// Removes the events whose time has ended. Returns whether there were any.
  mutating func endIfOver(at now: Instant) -> Bool {
    let count = entries.count
    entries.removeAll { $0.endsAt <= now }
    return entries.count < count
  }

  /// Extends the time of all events after a time in which the application could not handle them.
  mutating func extend(until endsAt: Instant) {
    for index in entries.indices { entries[index].endsAt = max(entries[index].endsAt, endsAt) }
  }
}

/// The messages that an application receives when it opens its event stream.
struct Inbox: Equatable, Sendable {
  /// The maximum number of notices. A person chooses far fewer notifications before an application
  /// opens its stream.
  private static let noticesMax = 64

  private(set) var notices: [Notice] = []
  /// The number of the newest system change that the application has received.
  var changesDelivered: UInt64 = 0
  /// The last episode of memory pressure about which the application received a warning.
  var memoryWarning: DeliveredMemoryWarning?

  mutating func add(_ notice: Notice) {
    if notices.count < Self.noticesMax { notices.append(notice) }
  }

  mutating func takeNotices() -> [Notice] {
    defer { notices = [] }
    return notices
  }
}

/// The number of an episode of memory pressure, and the instant at which an instance received the
/// warning.
struct DeliveredMemoryWarning: Equatable {
  var episode: UInt64
  var at: Instant
}

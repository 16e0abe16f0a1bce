/// The events that an instance is handling, such as data on a managed socket (contract §5). An
/// event entitles the instance to run until the instance acknowledges the event, or until the time
/// for the event ends. This time is usually `EventTime`.
struct HandledEvents: Equatable, Sendable {
  struct Entry: Equatable {
    let id: CallbackID
    /// The notice that reports the event to the application; nil if the application learns of the
    /// event by other means and does not acknowledge it.
    let notice: Notice?
    var endsAt: Instant
  }

  /// The events, the oldest first.
  private(set) var entries: [Entry] = []

  var isEmpty: Bool { entries.isEmpty }

  /// The earliest instant at which the time for one of the events ends; nil if there is no event.
  var nextEnd: Instant? { entries.map(\.endsAt).min() }

  /// The number of events that the application has received and not acknowledged.
  var unacknowledgedCount: Int { entries.count { $0.notice != nil } }

  /// The notices that report the events to the application, the oldest first.
  var notices: [Notice] { entries.compactMap(\.notice) }

  mutating func begin(_ id: CallbackID, _ notice: Notice?, until endsAt: Instant) {
    entries.append(Entry(id: id, notice: notice, endsAt: endsAt))
  }

  /// Extends the time for the event that needs no acknowledgement. Returns false if the instance is
  /// handling no such event.
  mutating func extendUnacknowledged(until endsAt: Instant) -> Bool {
    guard let index = entries.firstIndex(where: { $0.notice == nil }) else { return false }
    entries[index].endsAt = max(entries[index].endsAt, endsAt)
    return true
  }

  /// Removes an event that the instance has acknowledged.
  ///
  /// - Returns: The notice that reported the event; nil if the instance was not handling the event.
  mutating func acknowledge(_ id: CallbackID) -> Notice? {
    guard let index = entries.firstIndex(where: { $0.id == id && $0.notice != nil })
    else { return nil }
    return entries.remove(at: index).notice
  }

  /// Removes the events whose time has ended. Returns whether it removed any.
  mutating func endIfOver(at now: Instant) -> Bool {
    let count = entries.count
    entries.removeAll { $0.endsAt <= now }
    return entries.count < count
  }

  /// Extends the time for all events to at least `endsAt`, because the application could not handle
  /// them for a while.
  mutating func extend(until endsAt: Instant) {
    for index in entries.indices { entries[index].endsAt = max(entries[index].endsAt, endsAt) }
  }
}

/// The notices that wait until an application opens its event stream. Also records which system
/// changes and which memory warning the application has received.
struct Inbox: Equatable, Sendable {
  /// The maximum number of notices. The inbox discards further notices. This does not happen in
  /// practice, because each notice is a notification that the user chose while the application
  /// had no event stream.
  private static let noticesMax = 64

  private(set) var notices: [Notice] = []
  /// The number of the newest system change that the application has received.
  var changesDelivered: UInt64 = 0
  /// The last memory warning that the application received; nil if it received none.
  var memoryWarning: DeliveredMemoryWarning?
  /// The location authorization that the application has not received yet; nil if it has received
  /// the current one.
  var locationAuthorization: LocationAuthorization?

  mutating func add(_ notice: Notice) {
    if notices.count < Self.noticesMax { notices.append(notice) }
  }

  mutating func takeNotices() -> [Notice] {
    defer { notices = [] }
    return notices
  }
}

/// A memory warning that an instance received: the number of the episode of memory pressure, and
/// the instant of the warning.
struct DeliveredMemoryWarning: Equatable {
  var episode: UInt64
  var at: Instant
}

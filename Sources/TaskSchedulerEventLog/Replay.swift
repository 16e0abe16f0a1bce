import TaskSchedulerCore

/// What a daemon knew when it died: its event log's beginning, and every event since handled again.
public struct Replay {
  public private(set) var scheduler: Scheduler
  /// As after the last effect that is known to have been carried out.
  public private(set) var holdings: Holdings
  /// How many events there were in all.
  public private(set) var eventCount: UInt64
  /// The highest number of a request.
  public private(set) var requestLast: UInt64
  /// The last event since the event log was begun.
  public private(set) var lastEvent: Event?
  /// When the daemon is last known to have been alive.
  public private(set) var lastAlive: Instant
  /// The effects of the last event that were not carried out. Of the first of them it may be
  /// that it was.
  public private(set) var effectsLeft: ArraySlice<Effect> = []
  /// How many effects of the last event came before those.
  public private(set) var effectsDone = 0
  /// Whether the last event's request was replied to.
  public private(set) var isAnswered = false
  public let progress: EventLogProgress
  /// Whether the message of the call that is written was being collected: nothing of that is held.
  public private(set) var isInputUsedUp = false
  /// On which connections calls wait.
  private var waiting: [RequestID: UInt64] = [:]
  /// Where the next record of the event log goes.
  public private(set) var end: Int
  public private(set) var damage: EventLogDamage?

  /// - Parameters:
  ///   - boot: the present one; nil reads the event log of any.
  ///   - now: no event after it is believed.
  ///   - readAhead: as ``EventLogReader`` takes it.
  public init(
    _ bytes: UnsafeRawBufferPointer, boot: BootID?, now: Instant,
    readAhead: (RecordReader) -> any RecordSource = { $0 }
  ) throws(EventLogRefusal) {
    let reader = try EventLogReader(bytes, boot: boot, readAhead: readAhead)
    scheduler = try reader.scheduler.get()
    holdings = reader.holdings
    eventCount = reader.start.eventCount
    requestLast = reader.start.requestLast
    lastAlive = reader.start.at
    progress = reader.progress
    var records = reader.records
    end = records.end
    for (cookie, connection) in holdings.connections {
      if let request = connection.waiting?.request { waiting[request] = cookie }
    }
    guard lastAlive <= now else { throw .damagedStart("it was begun in the future") }
    settle(reader.start.effects[...], alreadyDone: reader.start.effectsDone)
    // Else the first change of what it has read would copy all of it.
    _ = consume reader
    while let entry = records.next() {
      switch entry {
      case .event(let event, let at):
        damage = lookAt(at, now: now)
        if damage == nil { take(event, at: at) }
      case .note(let note):
        if case .waiting(let call, let cookie) = note { waiting[call.request] = cookie }
        holdings.apply(note)
      }
      if damage != nil { break }
      end = records.end
    }
    damage = damage ?? records.damage
    // Zeros from the end of a record on look like an event log that ends there.
    if damage == nil, !progress.isBehind, eventCount + 1 < progress.event {
      damage = EventLogDamage(
        place: end, problem: "\(progress.event - eventCount) events are missing")
    }
    if isCallWritten, let input = holdings.connections[progress.callConnection]?.input,
      !input.bytes.isEmpty {
      isInputUsedUp = true
      holdings.connections[progress.callConnection]?.input = MessagePart()
    }
  }

  /// Whether there was a call that was being carried out, and what it asks for is known.
  public var isCallWritten: Bool {
    progress.callPhase != .none && progress.callEvent != 0 && progress.callEvent <= eventCount
  }

  private func lookAt(_ at: Instant, now: Instant) -> EventLogDamage? {
    if at > now { return EventLogDamage(place: end, problem: "an event is of the future") }
    if at < lastAlive {
      return EventLogDamage(place: end, problem: "an event is older than the one before it")
    }
    return nil
  }

  private mutating func take(_ event: Event, at: Instant) {
    lastEvent = event
    lastAlive = at
    eventCount += 1
    if let request = event.request { requestLast = max(requestLast, request.number) }
    if case .scheduler(.stop) = event { holdings.leaveRunning() }
    settle(scheduler.handle(event, at: at)[...], alreadyDone: 0)
  }

  /// Notes what the effects of the event brought about, as far as they were carried out.
  ///
  /// - Parameter alreadyDone: how many came before these.
  private mutating func settle(_ effects: ArraySlice<Effect>, alreadyDone: Int) {
    let done =
      eventCount < progress.event
      ? effects.count
      : eventCount == progress.event
        ? min(effects.count, max(0, progress.effectsDone - alreadyDone)) : 0
    isAnswered = false
    for effect in effects.prefix(done) {
      holdings.apply(effect)
      guard case .reply(let request, _) = effect else { continue }
      if let cookie = waiting.removeValue(forKey: request) {
        holdings.connections[cookie]?.waiting = nil
      }
      if request == lastEvent?.request { isAnswered = true }
    }
    effectsLeft = effects.dropFirst(done)
    effectsDone = alreadyDone + done
    if effectsLeft.isEmpty, let leader = lastEvent?.newcomer {
      holdings.forgetArrival(of: leader)
    }
  }
}

extension Event {
  /// The leader that it tells the policy of.
  fileprivate var newcomer: Leader? {
    switch self {
    case .application(.register(_, _, let leader, _, _)), .process(.spawned(_, let leader)): leader
    case .operation(.adopt(_, let adoption)): adoption.leader
    case .application, .operation, .process, .socket, .notification, .systemChanged, .scheduler,
      .memory, .resources:
      nil
    }
  }
}

import TaskSchedulerCore

/// Restores the state of a dead daemon. Begins with the state at the start of that daemon's event
/// log, and handles every later event again.
public struct Replay {
  /// One event that was handled again.
  public struct Step {
    public let event: Event
    public let at: Instant
    public let effects: [Effect]
  }

  public private(set) var scheduler: Scheduler
  /// The daemon's state after the last effect that was certainly carried out.
  public private(set) var daemonState: DaemonState
  /// The number of events since the scheduler was created, including those of earlier event logs.
  public private(set) var eventCount: UInt64
  /// The highest number of a request in the handled events.
  public private(set) var requestLast: UInt64
  /// The last handled event; nil if none was handled.
  public private(set) var lastEvent: Event?
  /// The instant of the last event. The dead daemon certainly lived until then.
  public private(set) var lastAlive: Instant
  /// Those effects of the last event that the event log does not record as carried out. The dead
  /// daemon may nevertheless have carried out the first of them.
  public private(set) var effectsLeft: ArraySlice<Effect> = []
  /// The number of effects of the last event that precede ``effectsLeft``. The dead daemon has
  /// carried them out.
  public private(set) var effectsDone = 0
  public let progress: EventLogProgress
  /// Whether the replay discarded the stored parts of the last call's message, because the event
  /// log contains the event of that call.
  public private(set) var isInputUsedUp = false
  /// For each request without a reply, the cookie of the connection on which the call arrived.
  private var waiting: [RequestID: UInt64] = [:]
  /// The offset of the next record in the event log.
  public private(set) var end: Int
  public private(set) var damage: EventLogDamage?

  /// The records that the replay has not handled; nil at the end.
  private var records: EventLogRecords?
  private let now: Instant

  /// Replays an event log to its end.
  ///
  /// - Parameters:
  ///   - bytes: The event log.
  ///   - boot: The present boot; nil accepts every boot.
  ///   - now: The present instant. A later event counts as damage.
  ///   - readAhead: Returns a source that may decode the records on another thread, as for
  ///     ``EventLogReader``.
  public init(
    _ bytes: UnsafeRawBufferPointer, boot: BootID?, now: Instant,
    readAhead: (RecordReader) -> any RecordSource = { $0 }
  ) throws(EventLogRefusal) {
    try self.init(
      beginning: EventLogReader(bytes, boot: boot, readAhead: readAhead), now: now)
    while next() != nil {}
  }

  /// Begins a replay. ``next()`` handles the events.
  ///
  /// - Parameters:
  ///   - reader: An event log from which no record has been read.
  ///   - now: The present instant. A later event counts as damage.
  public init(
    beginning reader: consuming EventLogReader, now: Instant
  ) throws(EventLogRefusal) {
    self.now = now
    scheduler = try reader.scheduler.get()
    daemonState = reader.daemonState
    eventCount = reader.start.eventCount
    requestLast = reader.start.requestLast
    lastAlive = reader.start.at
    progress = reader.progress
    records = reader.records
    end = reader.end
    for (cookie, connection) in daemonState.connections {
      if let request = connection.waiting?.request { waiting[request] = cookie }
    }
    guard lastAlive <= now else { throw .damagedStart("it begins at a later instant than now") }
    applyDone(reader.start.effects[...], alreadyDone: reader.start.effectsDone)
    // If `reader` kept its copies of the states, the first change of a state here would copy that
    // state.
    _ = consume reader
  }

  /// Handles the next event. Returns nil at the end of the event log.
  public mutating func next() -> Step? {
    while damage == nil, let entry = records?.next() {
      switch entry {
      case .event(let event, let call, let at):
        damage = Self.damage(at: end, event: at, previous: lastAlive, now: now)
        guard damage == nil else { break }
        if let call {
          waiting[call.waiting.request] = call.connection
          daemonState.connections[call.connection, default: .init()].waiting = call.waiting
        }
        let effects = take(event, at: at)
        end = records?.end ?? end
        return Step(event: event, at: at, effects: effects)
      case .note(let note):
        daemonState.apply(note)
        end = records?.end ?? end
      }
    }
    finish()
    return nil
  }

  private mutating func finish() {
    guard let records else { return }
    damage = damage ?? records.damage
    self.records = nil
    // If zeros overwrite a record, the event log seems to end there. The number of events in the
    // header reveals that events are missing.
    if damage == nil, !progress.isBehind, eventCount + 1 < progress.event {
      damage = EventLogDamage(
        place: end, problem: "\(progress.event - eventCount) events are missing")
    }
    if isCallWritten, let input = daemonState.connections[progress.callConnection]?.input,
      !input.bytes.isEmpty {
      isInputUsedUp = true
      daemonState.connections[progress.callConnection]?.input = MessagePart()
    }
  }

  /// Whether the daemon died while it carried out a call whose event is in the event log.
  public var isCallWritten: Bool {
    progress.callPhase != .none && progress.callEvent != 0 && progress.callEvent <= eventCount
  }

  // This function is static because a call of a method would copy the replay at each event.
  private static func damage(
    at end: Int, event: Instant, previous: Instant, now: Instant
  ) -> EventLogDamage? {
    if event > now { return EventLogDamage(place: end, problem: "an event is later than now") }
    if event < previous {
      return EventLogDamage(place: end, problem: "an event is older than the one before it")
    }
    return nil
  }

  private mutating func take(_ event: Event, at: Instant) -> [Effect] {
    lastEvent = event
    lastAlive = at
    eventCount += 1
    if let request = event.request { requestLast = max(requestLast, request.number) }
    if case .scheduler(.stop) = event { daemonState.leaveRunning() }
    let effects = scheduler.handle(event, at: at)
    applyDone(effects[...], alreadyDone: 0)
    return effects
  }

  /// Applies those effects of the last event that were carried out.
  ///
  /// - Parameter alreadyDone: The number of effects of the same event that precede `effects`.
  private mutating func applyDone(_ effects: ArraySlice<Effect>, alreadyDone: Int) {
    let done =
      eventCount < progress.event
      ? effects.count
      : eventCount == progress.event
        ? min(effects.count, max(0, progress.effectsDone - alreadyDone)) : 0
    for effect in effects.prefix(done) {
      daemonState.apply(effect)
      guard case .reply(let request, _) = effect else { continue }
      if let cookie = waiting.removeValue(forKey: request) {
        daemonState.connections[cookie]?.waiting = nil
      }
    }
    effectsLeft = effects.dropFirst(done)
    effectsDone = alreadyDone + done
    if effectsLeft.isEmpty, let leader = lastEvent?.newLeader {
      daemonState.forgetUnmanagedLeader(of: leader)
    }
  }
}

extension Event {
  /// The leader that the event reports to the scheduler; nil if the event reports none.
  fileprivate var newLeader: Leader? {
    switch self {
    case .application(.register(_, _, let leader, _, _)), .process(.spawned(_, let leader)): leader
    case .operation(.adopt(_, let adoption)): adoption.leader
    case .application, .operation, .process, .socket, .notification, .systemChanged, .session,
      .scheduler, .memory, .resources, .switcher, .location:
      nil
    }
  }
}

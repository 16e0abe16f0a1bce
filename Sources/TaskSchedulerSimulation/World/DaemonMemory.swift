import TaskSchedulerCore

/// The data that survives a daemon: a snapshot of the scheduler, and the events since.
struct DaemonMemory {
  struct Entry {
    let event: Event
    let instant: Instant
    let effects: [Effect]
  }

  var snapshot = Scheduler()
  private(set) var eventLog: [Entry] = []
  /// The instant of the last event that a started daemon wrote.
  private(set) var lastAlive = Instant(nanoseconds: 0)

  /// A daemon that dies again while it comes up has not been back.
  var isRecovering = false

  private static let eventLogMax = 64

  mutating func append(_ event: Event, at instant: Instant, _ effects: [Effect]) {
    eventLog.append(Entry(event: event, instant: instant, effects: effects))
    if !isRecovering { lastAlive = instant }
  }

  mutating func snapshotIfDue(_ scheduler: Scheduler) {
    // The last event stays: its effects may have to be carried out again.
    guard eventLog.count >= Self.eventLogMax else { return }
    snapshot = scheduler
    eventLog.removeAll(keepingCapacity: true)
  }

  /// The policy as it was, and what is left to do of the last event's effects; nil where the replay
  /// does not bring about what was brought about before.
  ///
  /// - Parameters:
  ///   - effectsDone: how many were certainly carried out.
  ///   - throughBytes: whether the snapshot is written and read as the event log's file holds it.
  func replay(
    effectsDone: Int, throughBytes: Bool
  ) -> (scheduler: Scheduler, effectsLeft: ArraySlice<Effect>)? {
    var scheduler = snapshot
    if throughBytes {
      let bytes = StoredWriter.bytes(of: snapshot)
      guard let read = try? StoredReader.read(Scheduler.self, from: bytes) else { return nil }
      scheduler = read
    }
    for entry in eventLog {
      guard scheduler.handle(entry.event, at: entry.instant) == entry.effects else { return nil }
    }
    return (scheduler, (eventLog.last?.effects ?? []).dropFirst(effectsDone))
  }
}

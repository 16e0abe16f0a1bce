import TaskSchedulerCore

/// Stores the events and the actions of the daemon in a file that outlives the daemon. An event is
/// stored before the daemon carries out its effects. After a crash, the next daemon continues from
/// the file.
///
/// When the file is full, the daemon writes the current state to a spare file that exists already.
/// A background task or a handed-over socket is a promise to an application. If there is no space
/// for another spare file, the daemon makes no new promises (`isShort`), but the event log still
/// contains all earlier promises. If there is no space even for the current state, the event log
/// falls behind (`isBehind`). The daemon then tries again to write the state when later events
/// occur.
public final class EventLog: EventStore {
  private let room: EventLogCapacity
  /// Whether the daemon took over a short time ago. If so, the event log also uses the reserve
  /// (``EventLogCapacity``) before it begins a new file.
  public var isTakingOver = false

  /// The files; nil if there is no event log (--no-event-log).
  private let files: (any EventLogFiles)?
  private let boot: BootID
  /// The version of the daemon.
  private let version: String
  private let report: (EventLogCondition) -> Void
  private var number: UInt64
  private var file: any EventLogFile
  private var writer: EventLogWriter
  public private(set) var isBehind = false
  /// Whether the spare file is missing or too short.
  private var isShort = false
  /// The minimum length of the spare file, in bytes.
  private var spareBytes = 0
  private var nextAttempt = Instant(nanoseconds: 0)
  private static let attemptInterval: Duration = .milliseconds(100)
  /// The number of events since the scheduler was created.
  private var eventCount: UInt64
  /// The instant of the last stored event.
  private var lastEventAt: Instant
  /// The effects of the current event; after a takeover, only the effects that the dead daemon had
  /// not recorded as carried out.
  private var effects: [Effect] = []
  /// The number of effects of the current event that precede those in `effects`.
  private var effectsBase = 0
  /// The number of effects of the current event that have been carried out.
  private var effectsDone = 0
  /// The call that the daemon is carrying out; nil if there is none.
  public private(set) var call: (any CurrentCall)?
  /// Whether the event log contains the event of the current call.
  private var isCallWritten = false
  private var isSending = false
  /// Returns the current state of the daemon. The daemon sets this function once, before the first
  /// event.
  public var state: () -> (DaemonState, Scheduler, requestLast: UInt64) = {
    preconditionFailure("the daemon has not set the function that returns its state")
  }

  /// Begins an event log.
  ///
  /// - Parameters:
  ///   - files: The files; nil to store no events.
  ///   - version: The version of the daemon.
  ///   - report: Receives each change of the event log's condition.
  public init(
    _ files: (any EventLogFiles)?, boot: BootID, version: String, scheduler: Scheduler,
    at now: Instant, room: EventLogCapacity = EventLogCapacity(),
    report: @escaping (EventLogCondition) -> Void
  ) {
    self.files = files
    self.boot = boot
    self.version = version
    self.room = room
    self.report = report
    number = (files?.numberLast ?? 0) + 1
    eventCount = 0
    lastEventAt = now
    let start = EventLogStart(writer: version, eventCount: 0, requestLast: 0, at: now)
    let initialRecords = EventLogInitialRecords(start, DaemonState(), scheduler)
    file = EventLogMemoryFile(bytesCount: initialRecords.count)
    writer = Self.writer(in: file, boot, initialRecords)
    guard let files else { return }
    do {
      let (file, writer) = try begin(initialRecords, number, in: files)
      try files.finish(number)
      (self.file, self.writer) = (file, writer)
      keepSpare(for: initialRecords)
    } catch {
      // Without space for an event log, the daemon still serves clients, but promises them nothing
      // that must survive a crash.
      fallBehind("\(error)")
    }
  }

  /// Continues the event log of a previous daemon.
  ///
  /// - Parameters:
  ///   - number: The number of the file.
  ///   - replay: The content of the file.
  public init(
    continuing file: any EventLogFile, _ number: UInt64, _ replay: borrowing Replay,
    in files: any EventLogFiles, boot: BootID, version: String,
    room: EventLogCapacity = EventLogCapacity(), report: @escaping (EventLogCondition) -> Void
  ) {
    self.files = files
    self.boot = boot
    self.version = version
    self.room = room
    self.report = report
    self.number = number
    self.file = file
    eventCount = replay.eventCount
    lastEventAt = replay.lastAlive
    writer = EventLogWriter(continuing: file.bytes, from: replay.end)
    effects = Array(replay.effectsLeft)
    effectsBase = replay.effectsDone
    effectsDone = replay.effectsDone
    isTakingOver = true
  }

  private static func writer(
    in file: any EventLogFile, _ boot: BootID, _ initialRecords: EventLogInitialRecords
  ) -> EventLogWriter {
    guard let writer = EventLogWriter(in: file.bytes, boot: boot, initialRecords: initialRecords)
    else {
      preconditionFailure("an event log has no room for its first records")
    }
    return writer
  }

  private func begin(
    _ initialRecords: EventLogInitialRecords, _ number: UInt64, in files: any EventLogFiles,
    room least: Int = 0
  ) throws -> (any EventLogFile, EventLogWriter) {
    let file = try files.make(
      number, bytesCount: initialRecords.count + bytesCount(after: initialRecords, least),
      least: initialRecords.count + least + room.reserveBytes)
    return (file, Self.writer(in: file, boot, initialRecords))
  }

  /// Returns the space for the records that follow the initial records, in bytes. If the state is
  /// large, this is about a quarter of its size. More space would delay the next daemon, which must
  /// handle every event again.
  private func bytesCount(after initialRecords: EventLogInitialRecords, _ least: Int = 0) -> Int {
    // The daemon writes the unfinished messages again to each new file. The additional space for
    // them makes new files rarer.
    max(room.bytes, initialRecords.count / 4 + room.reserveBytes, least + room.reserveBytes)
      + 2 * initialRecords.unfinishedCount
  }

  /// Reserves the disk space that the next file of the event log needs.
  private func keepSpare(for initialRecords: EventLogInitialRecords) {
    spareBytes = initialRecords.count + bytesCount(after: initialRecords)
    keepSpare()
  }

  private func keepSpare() {
    guard let files else { return }
    do {
      try files.keepSpare(bytesCount: spareBytes)
      if isShort { report(.nextHasRoom) }
      isShort = false
    } catch {
      if !isShort { report(.nextHasNoRoom(problem: "\(error)")) }
      isShort = true
    }
  }

  // MARK: Events

  /// Stores an event before its effects are carried out.
  public func record(_ event: Event, at now: Instant) {
    guard files != nil else { return }
    lastEventAt = now
    if isBehind, nextAttempt <= now { beginNew(at: now) }
    forgetEffects()
    eventCount += 1
    writer.setEvent(eventCount)
    // Other events may be stored during a call. Only the event that the call requests marks the
    // call as written.
    let answered = event.request.flatMap { answeredCall($0) }
    if answered != nil { writer.setCallEvent(eventCount) }
    defer { if answered != nil { isCallWritten = true } }
    if isBehind { return }
    if hasRoom, writer.append(event, for: answered, at: now) { return }
    // If `hasRoom` is false, the event has not been encoded, so its length is unknown, and the
    // first new file may be too short for it. The second one is long enough.
    for _ in 1...2 {
      eventCount -= 1
      beginNew(at: now, room: writer.lastBytes)
      eventCount += 1
      writer.setEvent(eventCount)
      if isBehind || writer.append(event, for: answered, at: now) { return }
    }
    fallBehind("an event is longer than an event log can be")
  }

  private func answeredCall(_ request: RequestID) -> LoggedCall? {
    guard let call, let waiting = call.waiting, waiting.request == request else { return nil }
    return LoggedCall(connection: call.cookie, waiting: waiting)
  }

  private var hasRoom: Bool { isTakingOver || writer.freeBytes > room.reserveBytes }

  /// Returns whether a promise that the daemon makes now survives any number of crashes.
  public func isWhole(at now: Instant) -> Bool {
    if isBehind, nextAttempt <= now { beginNew(at: now) }
    if isShort { keepSpare() }
    return !isBehind && !isShort
  }

  private func forgetEffects() {
    effects = []
    effectsBase = 0
    effectsDone = 0
  }

  /// Keeps the effects of the event in memory, before the daemon carries them out. If a new file
  /// begins meanwhile, it contains the remaining effects.
  public func willCarryOut(_ effects: [Effect]) {
    self.effects = effects
    effectsBase = effectsDone
  }

  /// Records that the next effect has been carried out.
  public func effectDone() {
    effectsDone += 1
    writer.setEffectsDone(effectsDone)
    endSending()
  }

  /// Stores an action that the daemon is about to take.
  public func note(_ note: Note) {
    if isBehind || files == nil { return }
    if hasRoom, writer.append(note) { return }
    // As in ``record(_:at:)``, the first new file may be too short. The second one is long enough.
    for _ in 1...2 {
      beginNew(at: lastEventAt, room: writer.lastBytes)
      if isBehind || writer.append(note) { return }
    }
    fallBehind("a note is longer than an event log can be")
  }

  // MARK: Calls

  /// Records that the daemon begins to carry out a call, or to receive a part of its message.
  /// `phase` tells whether the message of the call is still in the socket.
  public func beginCall(_ call: any CurrentCall, bytes: Int, phase: CallPhase) {
    self.call = call
    isCallWritten = false
    writer.setCall(connection: call.cookie, bytes: bytes, phase: phase)
  }

  /// Records the phase of the call.
  public func setCallPhase(_ phase: CallPhase) {
    writer.setCallPhase(phase)
  }

  /// Records that the daemon has finished with the message of the current call. The daemon has
  /// replied to the call, or replies later.
  public func endCall() {
    writer.setCallPhase(.none)
    call = nil
    endSending()
  }

  /// Records that the daemon is about to send a reply.
  public func willSend(toConnection cookie: UInt64) {
    writer.setSending(cookie)
    isSending = true
  }

  /// Records that the daemon is not sending a reply. After a takeover, the daemon calls this when
  /// it has handled the reply that the dead daemon was sending.
  public func forgetSending() { writer.setSending(0) }

  private func endSending() {
    guard isSending else { return }
    isSending = false
    writer.setSending(0)
  }

  // MARK: New files

  /// Begins a new file with the current state.
  ///
  /// - Parameter least: The minimum space for the next record, in bytes.
  private func beginNew(at now: Instant, room least: Int = 0) {
    guard let files else { return }
    nextAttempt = now.advanced(by: Self.attemptInterval)
    var (daemonState, scheduler, requestLast) = state()
    // If the daemon dies now, its successor reads the call from the socket and carries it out. In
    // the stored state, the call must therefore not wait for a reply yet.
    if let call, !isCallWritten { daemonState.connections[call.cookie]?.waiting = nil }
    var start = EventLogStart(
      writer: version, eventCount: eventCount, requestLast: requestLast, at: now)
    start.effects = Array(effects.dropFirst(effectsDone - effectsBase))
    start.effectsDone = effectsDone
    let initialRecords = EventLogInitialRecords(start, daemonState, scheduler)
    do {
      let (fresh, freshWriter) = try begin(initialRecords, number + 1, in: files, room: least)
      freshWriter.copyProgress(from: writer)
      freshWriter.setBehind(false)
      try files.finish(number + 1)
      number += 1
      (file, writer) = (fresh, freshWriter)
      if isBehind { report(.whole) }
      isBehind = false
      keepSpare(for: initialRecords)
    } catch {
      fallBehind("\(error)")
    }
  }

  private func fallBehind(_ problem: String) {
    guard !isBehind else { return }
    isBehind = true
    writer.setBehind(true)
    report(.behind(problem: problem))
  }

  /// Begins a new file with the current state, so that the next daemon handles few events again.
  public func condense(at now: Instant) {
    forgetEffects()
    beginNew(at: now)
  }

  /// Stores the number of attempts to take over from this event log.
  public func setAttempts(_ count: UInt32) { writer.setAttempts(count) }

  /// Records whether the daemon stopped in good order and left no process suspended.
  public func setClean(_ isClean: Bool) { writer.setClean(isClean) }
}

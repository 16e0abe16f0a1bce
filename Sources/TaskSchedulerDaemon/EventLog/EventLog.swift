import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The daemon's memory beyond its death: every event before its effects, and what it does about
/// them, stored in a file of the runtime directory.
///
/// An event log that is full is followed by another, whose file is there already. Where there is no
/// room for such a spare file, nothing new is promised (`isShort`), and what is promised is in the
/// event log all the same. Only where what is known has become too long for it, the event log falls
/// behind (`isBehind`), and each event tries anew to write down where things stand.
final class EventLog {
  /// Room for records after the beginning. An event takes some 100 bytes: as many as fit are
  /// handled again after a crash in some 20 ms.
  static let roomBytes = 256 << 10

  /// What of it is left for a daemon that takes over: to write down where things stand takes tens
  /// of milliseconds with many applications, and it is to serve first.
  private static let reserveBytes = 64 << 10
  /// Whether it has only just taken over.
  var isTakingOver = false

  /// nil where no event log is kept.
  private let folder: EventLogDirectory?
  private let boot: BootID
  private let log: Log
  private var number: UInt64
  private var mapping: MappingBox
  private var writer: EventLogWriter
  private(set) var isBehind = false
  /// Whether the file is missing that the next one needs.
  private var isShort = false
  /// How long that is to be.
  private var spareBytes = 0
  private var nextAttempt = Instant(nanoseconds: 0)
  private static let attemptInterval: Duration = .milliseconds(100)
  /// How many events there were.
  private(set) var eventCount: UInt64
  /// The effects of the event that is being carried out, and how many of them have been.
  private var effects: [Effect] = []
  /// How many came before those, where an earlier event log had them.
  private var effectsBase = 0
  private var effectsDone = 0
  /// The call that is being carried out.
  private(set) var call: (any LoggedCall)?
  /// Whether what it asks for has been written.
  private var isCallWritten = false
  private var isSending = false
  /// What the daemon holds and knows now. Set once, before the first event.
  var state: () -> (Holdings, Scheduler, requestLast: UInt64) = {
    preconditionFailure("the event log has not been told of the daemon")
  }

  private final class MappingBox {
    let mapping: FileMapping
    init(_ mapping: consuming FileMapping) { self.mapping = mapping }
  }

  /// Whether an event log could be begun where there was none.
  private static func first(
    _ beginning: EventLogBeginning, in folder: EventLogDirectory, _ number: UInt64, _ boot: BootID
  ) -> Result<(MappingBox, EventLogWriter), SystemError> {
    Result { () throws(SystemError) in
      let begun = try begin(beginning, in: folder, number, boot)
      try folder.finish(number)
      return begun
    }
  }

  /// Begins the first event log.
  init(
    _ folder: EventLogDirectory?, boot: BootID, scheduler: Scheduler, at now: Instant, log: Log
  ) throws(SystemError) {
    self.folder = folder
    self.boot = boot
    self.log = log
    number = (folder?.numbers.first ?? 0) + 1
    eventCount = 0
    let start = EventLogStart(writer: Version.current, eventCount: 0, requestLast: 0, at: now)
    let beginning = EventLogBeginning(start, Holdings(), scheduler)
    var begun: Result<(MappingBox, EventLogWriter), SystemError>?
    if let folder { begun = Self.first(beginning, in: folder, number, boot) }
    if case .success(let begun) = begun {
      (mapping, writer) = begun
      keepSpare(for: beginning)
      return
    }
    mapping = MappingBox(try FileMapping.anonymous(bytesCount: beginning.count))
    guard
      let writer = EventLogWriter(in: mapping.mapping.bytes, boot: boot, beginning: beginning)
    else { preconditionFailure("an event log has room for what it begins with") }
    self.writer = writer
    // Without room the daemon serves all the same, and promises nothing.
    if case .failure(let error) = begun { fallBehind("\(error)") }
  }

  /// Goes on with one that was found.
  init(
    continuing found: consuming FoundEventLog, in folder: EventLogDirectory, boot: BootID, log: Log
  ) {
    self.folder = folder
    self.boot = boot
    self.log = log
    number = found.number
    eventCount = found.replay.eventCount
    writer = EventLogWriter(continuing: found.mapping.bytes, from: found.replay.end)
    effects = Array(found.replay.effectsLeft)
    effectsBase = found.replay.effectsDone
    effectsDone = found.replay.effectsDone
    mapping = MappingBox(found.mapping)
    isTakingOver = true
  }

  private static func begin(
    _ beginning: EventLogBeginning, in folder: EventLogDirectory, _ number: UInt64, _ boot: BootID,
    room least: Int = 0
  ) throws(SystemError) -> (MappingBox, EventLogWriter) {
    let mapping = MappingBox(
      try folder.make(
        number, bytesCount: beginning.count + room(of: beginning, least),
        least: beginning.count + least + reserveBytes))
    guard
      let writer = EventLogWriter(in: mapping.mapping.bytes, boot: boot, beginning: beginning)
    else { preconditionFailure("an event log has room for what it begins with") }
    return (mapping, writer)
  }

  /// Bytes for records after the beginning: reading them takes a new daemon half as long as reading
  /// that does, where an event's byte is twice as dear, for it is handled again.
  private static func room(of beginning: EventLogBeginning, _ least: Int = 0) -> Int {
    // What was taken of long messages is written again at each beginning: so there are few.
    max(roomBytes, beginning.count / 4 + reserveBytes, least + reserveBytes)
      + 2 * beginning.unfinishedCount
  }

  /// Sees to it that the next one can be written, too.
  private func keepSpare(for beginning: EventLogBeginning) {
    spareBytes = beginning.count + Self.room(of: beginning)
    keepSpare()
  }

  private func keepSpare() {
    guard let folder else { return }
    do throws(SystemError) {
      try folder.keepSpare(bytesCount: spareBytes)
      if isShort { log.write(.notice, "the next event log has room again", id: .eventLogWhole) }
      isShort = false
    } catch {
      if !isShort {
        log.write(
          .error, "the next event log has no room: \(error). The daemon accepts no new requests",
          id: .eventLogBehind)
      }
      isShort = true
    }
  }

  // MARK: Events

  /// Writes an event, before its effects are carried out.
  func record(_ event: Event, at now: Instant) {
    guard folder != nil else { return }
    if isBehind, nextAttempt <= now { beginNew(at: now) }
    forgetEffects()
    eventCount += 1
    writer.setEvent(eventCount)
    // Not of what only follows from it: that would make what the call asked for look unwritten.
    let isCall = call != nil && event.request != nil
    if isCall { writer.setCallEvent(eventCount) }
    defer { if isCall { isCallWritten = true } }
    if isBehind { return }
    if hasRoom, writer.append(event, at: now) { return }
    // Twice where it is longer than the usual room, which is known only when it has been tried.
    for _ in 1...2 {
      eventCount -= 1
      beginNew(at: now, room: writer.lastBytes)
      eventCount += 1
      writer.setEvent(eventCount)
      if isBehind || writer.append(event, at: now) { return }
    }
    fallBehind("an event is longer than an event log can be")
  }

  private var hasRoom: Bool { isTakingOver || writer.freeBytes > Self.reserveBytes }

  /// Whether what is promised now will be known after a crash, and after whatever comes then.
  func isWhole(at now: Instant) -> Bool {
    if isBehind, nextAttempt <= now { beginNew(at: now) }
    if isShort { keepSpare() }
    return !isBehind && !isShort
  }

  private func forgetEffects() {
    effects = []
    effectsBase = 0
    effectsDone = 0
  }

  /// The effects of the event, in the order in which they are to be carried out.
  func willCarryOut(_ effects: [Effect]) {
    self.effects = effects
    effectsBase = effectsDone
  }

  /// The next of them has been carried out.
  func effectDone() {
    effectsDone += 1
    writer.setEffectsDone(effectsDone)
    endSending()
  }

  /// Writes what the daemon is about to do.
  func note(_ note: Note) {
    if isBehind || folder == nil { return }
    if hasRoom, writer.append(note) { return }
    // As for an event. What is noted after it is done is known already; what comes before is noted
    // now.
    for _ in 1...2 {
      beginNew(at: Instant(nanoseconds: BootClock.now()), room: writer.lastBytes)
      if isBehind || writer.append(note) { return }
    }
    fallBehind("a note is longer than an event log can be")
  }

  // MARK: Calls

  /// Notes that a call's message was read from its socket without being taken off it (see
  /// ``EventLogWriter``).
  func beginCall(
    _ call: any LoggedCall, bytes: Int, phase: CallPhase, isOneway: Bool = false
  ) {
    self.call = call
    isCallWritten = false
    writer.setCall(connection: call.cookie, bytes: bytes, isOneway: isOneway, phase: phase)
  }

  func setCallPhase(_ phase: CallPhase) {
    writer.setCallPhase(phase)
  }

  /// It has been answered, or waits for its answer.
  func endCall() {
    writer.setCallPhase(.none)
    call = nil
    endSending()
  }

  /// An answer is about to be sent.
  func willSend(toConnection cookie: UInt64) {
    writer.setSending(cookie)
    isSending = true
  }

  /// Whatever the last daemon was sending is seen to.
  func forgetSending() { writer.setSending(0) }

  private func endSending() {
    guard isSending else { return }
    isSending = false
    writer.setSending(0)
  }

  // MARK: Beginning anew

  /// Begins an event log with where things stand, in place of the one that is full.
  ///
  /// - Parameter least: bytes that there must be for what comes next.
  private func beginNew(at now: Instant, room least: Int = 0) {
    guard let folder else { return }
    nextAttempt = now.advanced(by: Self.attemptInterval)
    var (holdings, scheduler, requestLast) = state()
    // It does not wait for an answer yet: the next daemon finds it in its socket.
    if let call, !isCallWritten { holdings.connections[call.cookie]?.waiting = nil }
    var start = EventLogStart(
      writer: Version.current, eventCount: eventCount, requestLast: requestLast, at: now)
    start.effects = Array(effects.dropFirst(effectsDone - effectsBase))
    start.effectsDone = effectsDone
    let beginning = EventLogBeginning(start, holdings, scheduler)
    do throws(SystemError) {
      let (fresh, freshWriter) = try Self.begin(
        beginning, in: folder, number + 1, boot, room: least)
      freshWriter.copyProgress(from: writer)
      freshWriter.setBehind(false)
      try folder.finish(number + 1)
      number += 1
      (mapping, writer) = (fresh, freshWriter)
      if isBehind { log.write(.notice, "the event log is whole again", id: .eventLogWhole) }
      isBehind = false
      keepSpare(for: beginning)
    } catch {
      fallBehind("\(error)")
    }
  }

  private func fallBehind(_ problem: String) {
    guard !isBehind else { return }
    isBehind = true
    writer.setBehind(true)
    log.write(
      .error, "cannot write the event log: \(problem). The daemon accepts no new requests until it "
        + "can; a crash before then would lose all applications", id: .eventLogBehind)
  }

  /// Writes down where things stand, so that little is to be handled again.
  func condense(at now: Instant) {
    forgetEffects()
    beginNew(at: now)
  }

  /// How often a daemon has tried to go on from here.
  func setAttempts(_ count: UInt32) { writer.setAttempts(count) }

  func setClean(_ isClean: Bool) { writer.setClean(isClean) }
}

/// An event log that an earlier daemon has left, and what it knew.
struct FoundEventLog: ~Copyable {
  let number: UInt64
  let mapping: FileMapping
  let replay: Replay
  /// Who may stand still of whom it does not tell, where it or a newer one is damaged.
  let unclear: LeftBehind?
}

import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// Stores every event before its effects, and each action of the daemon, in a file of the runtime
/// directory. After a crash, the next daemon continues from there.
///
/// When the file is full, the daemon begins another one with the current state, in a spare file
/// that exists already. Without room for a spare file, the daemon makes no new promises
/// (`isShort`), but the event log still has all earlier ones. Only when the state itself no longer
/// fits, the event log falls behind (`isBehind`), and the daemon tries at later events to write the
/// state.
final class EventLog {
  /// The room for records after the state. An event takes about 100 bytes; after a crash, the next
  /// daemon handles as many as fit in about 20 ms.
  static let roomBytes = 256 << 10

  /// The part of the room that is reserved for a daemon that takes over. With many applications,
  /// writing the state takes tens of milliseconds, and the daemon must serve first.
  private static let reserveBytes = 64 << 10
  /// Whether the daemon has just taken over, and may use the reserve.
  var isTakingOver = false

  /// nil if there is no event log (--no-event-log).
  private let folder: EventLogDirectory?
  private let boot: BootID
  private let log: Log
  private var number: UInt64
  private var mapping: MappingBox
  private var writer: EventLogWriter
  private(set) var isBehind = false
  /// Whether the spare file is missing or too short.
  private var isShort = false
  /// The length that the spare file must have.
  private var spareBytes = 0
  private var nextAttempt = Instant(nanoseconds: 0)
  private static let attemptInterval: Duration = .milliseconds(100)
  /// The number of events since the scheduler was created.
  private(set) var eventCount: UInt64
  /// The effects of the current event, and the number of those that were carried out.
  private var effects: [Effect] = []
  /// The number of effects of that event that an earlier file stores.
  private var effectsBase = 0
  private var effectsDone = 0
  /// The call that is being carried out.
  private(set) var call: (any LoggedCall)?
  /// Whether the event log has the event that the call asks for.
  private var isCallWritten = false
  private var isSending = false
  /// Returns the current state of the daemon. Set once, before the first event.
  var state: () -> (Holdings, Scheduler, requestLast: UInt64) = {
    preconditionFailure("the event log has not been told of the daemon")
  }

  private final class MappingBox {
    let mapping: FileMapping
    init(_ mapping: consuming FileMapping) { self.mapping = mapping }
  }

  /// Creates the first file of an event log.
  private static func first(
    _ beginning: EventLogBeginning, in folder: EventLogDirectory, _ number: UInt64, _ boot: BootID
  ) -> Result<(MappingBox, EventLogWriter), SystemError> {
    Result { () throws(SystemError) in
      let begun = try begin(beginning, in: folder, number, boot)
      try folder.finish(number)
      return begun
    }
  }

  /// Begins an event log in an empty directory.
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
    // Without room the daemon serves, but makes no promises.
    if case .failure(let error) = begun { fallBehind("\(error)") }
  }

  /// Continues an event log that a previous daemon left.
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

  /// Returns the room for records after the state, in bytes: about a quarter of a large state. The
  /// next daemon takes twice as long for a byte of an event, because it handles the event.
  private static func room(of beginning: EventLogBeginning, _ least: Int = 0) -> Int {
    // The state repeats unfinished messages: a larger room makes that rare.
    max(roomBytes, beginning.count / 4 + reserveBytes, least + reserveBytes)
      + 2 * beginning.unfinishedCount
  }

  /// Ensures that the next file can be written, too.
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

  /// Stores an event, before its effects are carried out.
  func record(_ event: Event, at now: Instant) {
    guard folder != nil else { return }
    if isBehind, nextAttempt <= now { beginNew(at: now) }
    forgetEffects()
    eventCount += 1
    writer.setEvent(eventCount)
    // Only for the event of the call itself. After a later event, the call would look unwritten.
    let isCall = call != nil && event.request != nil
    if isCall { writer.setCallEvent(eventCount) }
    defer { if isCall { isCallWritten = true } }
    if isBehind { return }
    if hasRoom, writer.append(event, at: now) { return }
    // The second attempt is for an event that is longer than the usual room.
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

  /// Whether a promise of now will be known after a crash, and after the crashes that follow.
  func isWhole(at clock: @autoclosure () -> Instant) -> Bool {
    if isBehind {
      let now = clock()
      if nextAttempt <= now { beginNew(at: now) }
    }
    if isShort { keepSpare() }
    return !isBehind && !isShort
  }

  private func forgetEffects() {
    effects = []
    effectsBase = 0
    effectsDone = 0
  }

  /// Notes the effects of the event in their order, before they are carried out.
  func willCarryOut(_ effects: [Effect]) {
    self.effects = effects
    effectsBase = effectsDone
  }

  /// Notes that the next effect was carried out.
  func effectDone() {
    effectsDone += 1
    writer.setEffectsDone(effectsDone)
    endSending()
  }

  /// Stores an action that the daemon is about to take.
  func note(_ note: Note) {
    if isBehind || folder == nil { return }
    if hasRoom, writer.append(note) { return }
    // As for an event.
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

  /// Notes that the call was answered, or waits for its answer.
  func endCall() {
    writer.setCallPhase(.none)
    call = nil
    endSending()
  }

  /// Notes that an answer is about to be sent.
  func willSend(toConnection cookie: UInt64) {
    writer.setSending(cookie)
    isSending = true
  }

  /// Notes that the answer of a previous daemon is settled.
  func forgetSending() { writer.setSending(0) }

  private func endSending() {
    guard isSending else { return }
    isSending = false
    writer.setSending(0)
  }

  // MARK: Beginning anew

  /// Begins a new file with the current state.
  ///
  /// - Parameter least: the minimum room for the next record, in bytes.
  private func beginNew(at now: Instant, room least: Int = 0) {
    guard let folder else { return }
    nextAttempt = now.advanced(by: Self.attemptInterval)
    var (holdings, scheduler, requestLast) = state()
    // The call does not wait for an answer yet: the next daemon finds it in its socket.
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

  /// Writes the current state, so that the next daemon handles few events again.
  func condense(at now: Instant) {
    forgetEffects()
    beginNew(at: now)
  }

  /// Stores the number of attempts to take over from this event log.
  func setAttempts(_ count: UInt32) { writer.setAttempts(count) }

  func setClean(_ isClean: Bool) { writer.setClean(isClean) }
}

/// An event log that a previous daemon left.
struct FoundEventLog: ~Copyable {
  let number: UInt64
  let mapping: FileMapping
  let replay: Replay
  /// The processes that may be stopped although the event log does not say so, because it or a
  /// newer one is damaged.
  let unclear: LeftBehind?
}

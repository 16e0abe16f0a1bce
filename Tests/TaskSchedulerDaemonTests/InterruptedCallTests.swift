import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15: No client notices the restart, not even in the middle of a message")
struct InterruptedCallTests {
  private let temporary = TemporaryDirectory()
  private let folder: EventLogDirectory
  private let boot = BootID("0f5b4e0c-0000-4000-8000-0123456789ab")
  private let log = Log(target: .stderr, level: .error)
  private let now = Instant(nanoseconds: 1)
  private let proc: ProcFS
  private let eventLog: EventLog
  private let client: Client

  init() throws {
    proc = try ProcFS()
    folder = try EventLogDirectory(path: temporary.file("event-log"), proc: proc)
    eventLog = EventLog(folder, boot: boot, scheduler: Scheduler(), at: now, log: log)
    client = try Client(eventLog, proc: proc)
    eventLog.state = { [client] in (client.daemonState, Scheduler(), requestLast: 1) }
  }

  @Test("After two restarts, the client's next message is not taken for the interrupted call")
  func nextMessage() throws {
    try client.call {
      eventLog.record(client.event, at: now)
      // The first daemon has stored the event, and dies while the message is still in the socket.
      let second = try takeOver()
      let isUnknown = try leavesUnknown(second)
      #expect(!isUnknown)
      #expect(client.unreadCount == 0, "the stored call's message is removed from the socket")
      // The second daemon has answered the call, and dies before it has read the next call.
      try client.sendNext()
      let isUnknownNow = try leavesUnknown(takeOver())
      #expect(!isUnknownNow)
      #expect(client.unreadCount == Client.message.count)
    }
  }

  @Test("An interrupted call whose event was not stored is read again, even by the third daemon")
  func unwritten() throws {
    try client.call {
      eventLog.record(client.event, at: now)
      // The first daemon dies while it writes the event.
      try cutLastEvent()
      let second = try takeOver()
      let isUnknown = try leavesUnknown(second)
      #expect(!isUnknown)
      second.eventLog.record(.scheduler(.deadlineReached), at: now)
      let third = try takeOver()
      #expect(third.replay.eventCount == 1)
      let isUnknownNow = try leavesUnknown(third)
      #expect(!isUnknownNow)
      #expect(client.unreadCount == Client.message.count)
    }
  }

  @Test("An event log that begins before a call's event does not list the call as waiting")
  func newEventLog() throws {
    try fill()
    let old = folder.numbers
    try client.call {
      eventLog.record(client.event, at: now)
      #expect(folder.numbers != old)
      // The new event log begins before the call's event, so the state at its start lists no
      // waiting call.
      let waitsBefore = try waits()
      #expect(!waitsBefore)
      // The state at the start of a later event log lists the call.
      eventLog.condense(at: now)
      let waitsAfter = try waits()
      #expect(waitsAfter)
    }
  }

  @Test("The next daemon knows the method and options of an interrupted call, not only its event")
  func asMade() throws {
    let name = try #require(ApplicationID("org.example.a"))
    // A method of the application interface causes the same event, so the event alone does not
    // identify the method.
    let event = Event.notification(
      .cancel(client.request, ApplicationKey(name, owner: UserID(0)), NotificationID(7), stored: [])
    )
    var call = client.waiting
    call.method = ControlInterface.CancelNotifications.name
    call.takesMore = true
    client.connection.waiting = call
    try client.call {
      eventLog.record(event, at: now)
      let next = try takeOver()
      #expect(next.replay.daemonState.connections[client.cookie]?.waiting == call)
      eventLog.willCarryOut(Array(next.replay.effectsLeft))
      while try !takeOver().replay.effectsLeft.isEmpty { eventLog.effectDone() }
      #expect(try takeOver().replay.daemonState.connections[client.cookie]?.waiting == nil)
    }
  }

  @Test(
    "A reply that the daemon was sending when it died is not sent again; the next reply is sent")
  func sending() throws {
    try client.call {
      eventLog.record(client.event, at: now)
      let refused = try Array(takeOver().replay.effectsLeft)
      #expect(hasAnswer(refused), "the reply is an error, because the application is unknown")
      eventLog.willCarryOut(refused)
      eventLog.willSend(toConnection: client.connection.cookie)
      // The first daemon dies while it sends the reply.
      let second = try takeOver()
      let isUnknown = try leavesUnknown(second)
      #expect(isUnknown)
      #expect(!hasAnswer(second.call.effectsLeft(second.eventLog)))
      // The second daemon has read the next call, and dies before it answers.
      second.eventLog.record(client.event, at: now)
      let third = try takeOver()
      #expect(hasAnswer(third.call.effectsLeft(third.eventLog)))
    }
  }

  /// The step at which the daemon dies while it saves a part of a message.
  enum PartMoment: CaseIterable {
    case marked, noted, halfTaken, taken, unmarked
  }

  @Test(
    "No byte of a partial message is lost or read twice, at whatever step the daemon dies",
    arguments: PartMoment.allCases)
  func part(_ moment: PartMoment) throws {
    let message = Client.message
    try client.send(message[..<20])
    while client.unreadCount != 0 { try client.loop.turn(within: deadline) }
    #expect(try input(takeOver()) == Array(message[..<20]))
    try client.send(message[20..<40])
    try die(at: moment, taking: message[20..<40])
    // The next daemon dies before it serves, so a third daemon takes over.
    for _ in 1...2 {
      let next = try takeOver()
      let isUnknown = try leavesUnknown(next)
      #expect(!isUnknown)
      let input = try input(next)
      let unread = message[input.count..<40]
      #expect(input[...] == message[..<(moment == .marked ? 20 : 40)])
      #expect(client.unreadCount == unread.count)
      #expect(try UnixSocket.peekMark(client.far) == nil)
    }
  }

  private func die(at moment: PartMoment, taking part: ArraySlice<UInt8>) throws {
    let far = client.far
    eventLog.beginCall(client.connection, bytes: part.endIndex, phase: .takingPart)
    try UnixSocket.setPeekMark(far, part.count)
    if moment == .marked { return }
    eventLog.note(.input(MessagePart(Array(part)), connection: client.cookie))
    if moment == .noted { return }
    try client.take(moment == .halfTaken ? part.count / 2 : part.count)
    if moment == .unmarked { try UnixSocket.setPeekMark(far, nil) }
  }

  private func input(_ next: Next) throws -> [UInt8] {
    next.replay.daemonState.connections[client.cookie]?.input.bytes ?? []
  }

  @Test("The event log holds the received bytes of a call until the call's event is stored")
  func collected() throws {
    let message = Client.message
    try client.send(message[..<20])
    while client.unreadCount != 0 { try client.loop.turn(within: deadline) }
    try client.call(with: message[20...]) {
      let second = try takeOver()
      #expect(try input(second)[...] == message[..<20])
      let isUnknown = try leavesUnknown(second)
      #expect(!isUnknown)
      #expect(
        client.unreadCount == message.count - 20, "the rest of the message stays in the socket")
      eventLog.beginCall(client.connection, bytes: message.count - 20, phase: .peeked)
      eventLog.record(client.event, at: now)
      let third = try takeOver()
      #expect(try input(third) == [])
      let isUnknownNow = try leavesUnknown(third)
      #expect(!isUnknownNow)
      #expect(client.unreadCount == 0, "the stored call's message is removed from the socket")
      third.eventLog.endCall()
      #expect(try input(takeOver()) == [], "the same holds when no record describes the call")
    }
  }

  @Test("Taking a stored call's message from the socket writes nothing to the event log")
  func taken() throws {
    let message = Client.message
    try client.send(message[..<20])
    while client.unreadCount != 0 { try client.loop.turn(within: deadline) }
    try client.call(with: message[20...]) {
      eventLog.record(client.event, at: now)
      let end = try replay().end
      client.connection.takeMessage()
      #expect(client.unreadCount == 0)
      #expect(try replay().end == end, "the event log has no new record")
    }
    #expect(try input(takeOver()) == [], "the end of the call discards the received bytes")
  }

  private func hasAnswer(_ effects: [Effect]) -> Bool {
    effects.contains { if case .reply = $0 { true } else { false } }
  }

  // MARK: Event logs and the next daemon

  private func find() throws -> FoundEventLog {
    let finder = EventLogFinder(
      directory: folder, boot: boot, socketPath: temporary.file("socket"), proc: proc, log: log)
    guard let found = try finder.find(at: now) else {
      throw SystemError(call: "no event log was found", errno: ENOENT)
    }
    return found
  }

  private func replay() throws -> Replay { try find().replay }

  /// Returns the state that the next daemon recovers.
  private func takeOver() throws -> Next {
    let found = try find()
    let replay = found.replay
    let eventLog = EventLog(continuing: found, in: folder, boot: boot, log: log)
    eventLog.state = { [client] in (client.daemonState, Scheduler(), requestLast: 1) }
    return Next(call: InterruptedCall(replay), eventLog: eventLog, replay: replay)
  }

  private struct Next {
    let call: InterruptedCall
    let eventLog: EventLog
    let replay: Replay
  }

  private func leavesUnknown(_ next: Next) throws -> Bool {
    try next.call.leavesUnknown(client.cookie, client.far, next.eventLog)
  }

  /// Returns whether the state at the start of the newest event log lists the call as waiting.
  private func waits() throws -> Bool {
    let mapping = try FileMapping.open(path: folder.path(of: #require(folder.numbers.first)))
    let reader = try EventLogReader(UnsafeRawBufferPointer(mapping.bytes), boot: boot)
    return reader.daemonState.connections[client.cookie]?.waiting != nil
  }

  /// Records events until one more would begin a new event log.
  private func fill() throws {
    let path = temporary.file("measured")
    let other = try EventLogDirectory(path: path, proc: proc)
    let measured = EventLog(other, boot: boot, scheduler: Scheduler(), at: now, log: log)
    measured.state = { (DaemonState(), Scheduler(), requestLast: 0) }
    let first = other.numbers
    while true {
      measured.record(.scheduler(.deadlineReached), at: now)
      guard other.numbers == first else { return }
      eventLog.record(.scheduler(.deadlineReached), at: now)
    }
  }

  /// Damages the end of the last event, as a kill during the write does.
  private func cutLastEvent() throws {
    let end = try replay().end
    let mapping = try FileMapping.open(path: folder.path(of: #require(folder.numbers.first)))
    for place in end - 4..<end { mapping.bytes[place] ^= 0xFF }
    #expect(try replay().eventCount == 0)
  }
}

/// A client with one connection. The test carries out the client's calls.
private final class Client: ConnectionOwner {
  let readBuffer = ReadBuffer()
  let eventLog: EventLog
  let queuedBytesMax = 1 << 20
  let listenerNumber: Int32 = -1
  let callsAtOnce = 1
  let loop: EventLoop
  let near: FileDescriptor
  let far: Int32
  let cookie: UInt64
  let request = RequestID(1)
  let event: Event
  private(set) var connection: Connection!
  private var body: () throws -> Void = {}
  private var problem: (any Error)?

  init(_ eventLog: EventLog, proc: ProcFS) throws {
    self.eventLog = eventLog
    loop = try EventLoop()
    let name = try #require(ApplicationID("org.example.a"))
    event = .operation(.activate(request, ApplicationKey(name, owner: UserID(0))))
    let (near, far) = try UnixSocket.pair(nonblocking: true).ends()
    self.near = FileDescriptor(taking: near)
    self.far = far
    cookie = try UnixSocket.cookie(far)
    let peer = try Peer(
      far, credentials: UnixSocket.credentials(far), kernelHasPeerPIDFD: true, proc: proc)
    let service = Service(
      vendor: "", product: "", version: "", url: "", interfaces: [ControlInterface.description])
    connection = try Connection(
      FileDescriptor(taking: far), cookie: cookie, peer: peer, service: service, owner: self,
      loop: loop, held: nil)
    connection.waiting = waiting
  }

  /// The waiting call as `Requests` describes it.
  var waiting: DaemonState.Waiting {
    DaemonState.Waiting(
      request: request, method: ControlInterface.Activate.name, application: "org.example.a",
      takesMore: false, isOneway: false)
  }

  /// The daemon's state as `Requests` reports it until the call is answered.
  var daemonState: DaemonState {
    var daemonState = DaemonState()
    daemonState.connections[cookie] = DaemonState.Connection(waiting: waiting)
    return daemonState
  }

  static let message =
    Array(#"{"method":"org.taskschedd.Control.Activate","parameters":{"application":"a"}}"#.utf8)
    + [0]

  func sendNext() throws { try send(Self.message[...]) }

  func send(_ bytes: ArraySlice<UInt8>) throws {
    _ = try bytes.withUnsafeBytes { bytes throws(SystemError) in
      try UnixSocket.send(near.rawValue, bytes)
    }
  }

  /// Reads the given number of bytes from the daemon's socket.
  func take(_ count: Int) throws {
    var descriptors = DescriptorBag()
    var bytes = [UInt8](repeating: 0, count: count)
    try bytes.withUnsafeMutableBytes { bytes in
      try UnixSocket.receive(far, exactly: bytes, descriptors: &descriptors)
    }
  }

  /// The number of bytes that the daemon has not read.
  var unreadCount: Int? { try? UnixSocket.readableCount(far) }

  /// Sends a call, or the rest of a call, and runs `body` when the daemon would carry out the call.
  func call(
    with rest: ArraySlice<UInt8> = message[...], _ body: @escaping () throws -> Void
  ) throws {
    try send(rest)
    var isCalled = false
    self.body = {
      isCalled = true
      try body()
    }
    // Breaks the reference cycle between this client and `body`, which would keep the temporary
    // directory from being removed.
    defer { self.body = {} }
    while !isCalled { try loop.turn(within: deadline) }
    if let problem { throw problem }
  }

  func handle(_ call: ReceivedCall, on connection: Connection) {
    do { try body() } catch { problem = error }
  }

  func hasConnection(_ cookie: UInt64) -> Bool { false }
  func keep(_ change: HeldResources, for user: UInt32) -> String? { nil }
  func isUseless(_ call: ReceivedCall, on connection: Connection) -> Bool { false }
  func admits(_ connection: Connection) -> Bool { true }
  func served(_ connection: Connection, nanoseconds: UInt64) {}
  func save(_ connection: Connection) {}
  func closed(_ connection: Connection, reason: String?) {}
}

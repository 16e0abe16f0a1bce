import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15.1: No client notices the restart, not even in the middle of a message")
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
      // The daemon dies while the message is in the socket.
      let second = try takeOver()
      let isUnknown = try leavesUnknown(second)
      #expect(!isUnknown)
      #expect(client.unreadCount == 0, "it is not handled twice")
      // The second daemon has answered, and dies before it has read the next call.
      try client.sendNext()
      let isUnknownNow = try leavesUnknown(takeOver())
      #expect(!isUnknownNow)
      #expect(client.unreadCount == Client.message.count)
    }
  }

  @Test(
    "An interrupted call without a record is read, whatever the next daemon has written by then")
  func unwritten() throws {
    try client.call {
      eventLog.record(client.event, at: now)
      // The daemon dies while it writes that event.
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

  @Test("An interrupted call does not wait for a reply if a new event log was begun for it")
  func newEventLog() throws {
    try fill()
    let old = folder.numbers
    try client.call {
      eventLog.record(client.event, at: now)
      #expect(folder.numbers != old)
      // The new log does not begin with a waiting call: the call's event follows its beginning.
      let waitsBefore = try waits()
      #expect(!waitsBefore)
      // From here on, the log begins with the call.
      eventLog.condense(at: now)
      let waitsAfter = try waits()
      #expect(waitsAfter)
    }
  }

  @Test("The next daemon knows an interrupted call as it was made, not only its event")
  func asMade() throws {
    let name = try #require(ApplicationID("org.example.a"))
    // Another method of an application leads to the same event.
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

  @Test("A reply that was being sent is not sent again, and the next one is")
  func sending() throws {
    try client.call {
      eventLog.record(client.event, at: now)
      let refused = try Array(takeOver().replay.effectsLeft)
      #expect(hasAnswer(refused), "there is no such application")
      eventLog.willCarryOut(refused)
      eventLog.willSend(toConnection: client.connection.cookie)
      // The daemon dies while it writes that event.
      let second = try takeOver()
      let isUnknown = try leavesUnknown(second)
      #expect(isUnknown)
      #expect(!hasAnswer(second.call.effectsLeft(second.eventLog)))
      // The daemon dies before it answers the call that it has read.
      second.eventLog.record(client.event, at: now)
      let third = try takeOver()
      #expect(hasAnswer(third.call.effectsLeft(third.eventLog)))
    }
  }

  /// The amount of a partial message that the daemon has saved when it dies.
  enum PartMoment: CaseIterable {
    case marked, noted, halfTaken, taken, unmarked
  }

  @Test(
    "No byte of a partial message is lost or read twice, whenever the daemon dies",
    arguments: PartMoment.allCases)
  func part(_ moment: PartMoment) throws {
    let message = Client.message
    try client.send(message[..<20])
    while client.unreadCount != 0 { try client.loop.turn(within: deadline) }
    #expect(try input(takeOver()) == Array(message[..<20]))
    try client.send(message[20..<40])
    try die(at: moment, taking: message[20..<40])
    // The next daemon also dies before it serves.
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

  @Test("The received bytes of a call are held until the call is written, and no longer")
  func collected() throws {
    let message = Client.message
    try client.send(message[..<20])
    while client.unreadCount != 0 { try client.loop.turn(within: deadline) }
    try client.call(with: message[20...]) {
      let second = try takeOver()
      #expect(try input(second)[...] == message[..<20])
      let isUnknown = try leavesUnknown(second)
      #expect(!isUnknown)
      #expect(client.unreadCount == message.count - 20, "it is heard again")
      eventLog.beginCall(client.connection, bytes: message.count - 20, phase: .peeked)
      eventLog.record(client.event, at: now)
      let third = try takeOver()
      #expect(try input(third) == [])
      let isUnknownNow = try leavesUnknown(third)
      #expect(!isUnknownNow)
      #expect(client.unreadCount == 0, "it is not handled twice")
      third.eventLog.endCall()
      #expect(try input(takeOver()) == [], "also when no record describes the call")
    }
  }

  @Test("No event log begins between a call's event and the scheduler's answer")
  func taken() throws {
    let message = Client.message
    try client.send(message[..<20])
    while client.unreadCount != 0 { try client.loop.turn(within: deadline) }
    try client.call(with: message[20...]) {
      eventLog.record(client.event, at: now)
      let end = try replay().end
      client.connection.takeMessage()
      #expect(client.unreadCount == 0)
      #expect(try replay().end == end, "nothing is noted")
    }
    #expect(try input(takeOver()) == [], "it is when the call has been carried out")
  }

  private func hasAnswer(_ effects: [Effect]) -> Bool {
    effects.contains { if case .reply = $0 { true } else { false } }
  }

  // MARK: Daemons

  private func find() throws -> FoundEventLog {
    let finder = EventLogFinder(
      directory: folder, boot: boot, socketPath: temporary.file("socket"), proc: proc, log: log)
    guard let found = try finder.find(at: now) else {
      throw SystemError(call: "not an event log was found", errno: ENOENT)
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

  /// Whether the newest event log begins with the call as one that awaits its answer.
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

  /// Truncates the last event, as a kill during its write does.
  private func cutLastEvent() throws {
    let end = try replay().end
    let mapping = try FileMapping.open(path: folder.path(of: #require(folder.numbers.first)))
    for place in end - 4..<end { mapping.bytes[place] ^= 0xFF }
    #expect(try replay().eventCount == 0)
  }
}

/// A client of one connection, whose calls the test carries out.
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

  /// Sends a call, or the rest of it, which `body` carries out.
  func call(
    with rest: ArraySlice<UInt8> = message[...], _ body: @escaping () throws -> Void
  ) throws {
    try send(rest)
    var isCalled = false
    self.body = {
      isCalled = true
      try body()
    }
    // Breaks the reference cycle, so that the suite is deallocated and its directory removed.
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

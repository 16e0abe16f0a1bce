import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15: A disconnected client costs little")
struct GoneClientTests {
  private static let query = "org.taskschedd.Control.ListApplications"
  private static let order = "org.taskschedd.Control.Activate"

  @Test("Of the oneway calls of a disconnected client, only those with an effect are carried out")
  func oneway() throws {
    let daemon = try GoneClientsDaemon()
    let calls = [Self.query, Self.order, Self.query, Self.query, Self.order, Self.query]
    let carriedOut = try daemon.carriedOut(calls)
    #expect(carriedOut == [Self.order, Self.order])
  }

  @Test(
    "Many calls without effect of a disconnected client are discarded in a few turns of the loop")
  func thousand() throws {
    let daemon = try GoneClientsDaemon()
    let carriedOut = try daemon.carriedOut([Self.order] + Array(repeating: Self.query, count: 150))
    #expect(carriedOut == [Self.order])
    #expect(daemon.turns <= 10, "turns of the loop")
  }

  @Test("All calls of a connected client are carried out")
  func present() throws {
    let daemon = try GoneClientsDaemon()
    let calls = [Self.query, Self.order, Self.query]
    #expect(try daemon.carriedOut(calls, isGone: false) == calls)
  }
}

/// A daemon with one connection, which records and answers the calls of the client.
private final class GoneClientsDaemon: ConnectionOwner {
  let readBuffer = ReadBuffer()
  let eventLog: EventLog
  let queuedBytesMax = 1 << 20
  let listenerNumber: Int32 = -1
  let callsAtOnce = 1
  private(set) var turns = 0
  private let loop: EventLoop
  private var connection: Connection?
  private let client: FileDescriptor
  private var isClosed = false
  private var calls: [String] = []

  init() throws {
    loop = try EventLoop()
    let boot = BootID("0f5b4e0c-0000-4000-8000-0123456789ab")
    let log = Log(target: .stderr, level: .error)
    let start = Instant(nanoseconds: 1)
    eventLog = EventLog(nil, boot: boot, scheduler: Scheduler(), at: start, log: log)
    let (near, far) = try UnixSocket.pair(nonblocking: true).ends()
    client = FileDescriptor(taking: near)
    let peer = try Peer(
      far, credentials: UnixSocket.credentials(far), kernelHasPeerPIDFD: true, proc: ProcFS())
    let service = Service(
      vendor: "", product: "", version: "", url: "", interfaces: [ControlInterface.description])
    connection = try Connection(
      FileDescriptor(taking: far), cookie: UnixSocket.cookie(far), peer: peer, service: service,
      owner: self, loop: loop, held: nil)
  }

  /// Sends oneway calls, and then disconnects the client if `isGone` is true. Returns the calls
  /// that the daemon carries out.
  func carriedOut(_ methods: [String], isGone: Bool = true) throws -> [String] {
    for method in methods {
      let message = Array(#"{"method":"\#(method)","oneway":true}"#.utf8) + [0]
      let transfer = try message.withUnsafeBytes { bytes throws(SystemError) in
        try UnixSocket.send(client.rawValue, bytes)
      }
      try #require(transfer == .bytes(message.count))
    }
    if isGone { try UnixSocket.shutdown(client.rawValue) }
    while isGone ? !isClosed : calls.count < methods.count {
      try loop.turn(within: deadline)
      turns += 1
    }
    return calls
  }

  func handle(_ call: ReceivedCall, on connection: Connection) {
    calls.append(call.method)
    connection.reply(NoFields())
  }

  func isUseless(_ call: ReceivedCall, on connection: Connection) -> Bool {
    ControlInterface.MethodName(rawValue: call.method)?.isQuery ?? true
  }

  func hasConnection(_ cookie: UInt64) -> Bool { false }
  func keep(_ change: HeldResources, for user: UInt32) -> String? { nil }
  func admits(_ connection: Connection) -> Bool { true }
  func served(_ connection: Connection, nanoseconds: UInt64) {}
  func save(_ connection: Connection) {}
  func closed(_ connection: Connection, reason: String?) { isClosed = true }
}

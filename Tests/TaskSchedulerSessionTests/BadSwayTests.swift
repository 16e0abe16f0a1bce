import Glibc
import LinuxSystem
import TaskSchedulerSession
import TestSupport
import Testing

/// A simulated sway, which listens at the path of sway's socket.
private final class PosingSway {
  let directory = TemporaryDirectory()
  private var listener: FileDescriptor?
  private var peer: FileDescriptor?

  private var path: String { directory.file("sway-ipc.\(geteuid()).1.sock") }

  init() throws { try listen() }

  func listen() throws { listener = try UnixSocket.listen(path: path, mode: 0o600) }

  /// Stops listening and removes the socket.
  func stop() throws {
    peer = nil
    listener = nil
    try UnixSocket.unlink(path: path)
  }

  var environment: SessionEnvironment {
    SessionEnvironment(uid: geteuid()) { $0 == "XDG_RUNTIME_DIR" ? self.directory.path : nil }
  }

  /// Accepts the next connection, and returns whether there is one.
  func accept() throws -> Bool {
    guard let number = listener?.rawValue,
      let socket = try UnixSocket.accept(number)?.take()
    else { return false }
    peer = FileDescriptor(taking: socket)
    return true
  }

  func closePeer() { peer = nil }

  func send(_ type: SwayMessageType, _ payload: String) throws {
    try send(SwayMessageBuffer.request(type, payload))
  }

  func send(_ bytes: [UInt8]) throws {
    let number = peer?.rawValue ?? -1
    let sent = try bytes.withUnsafeBytes { try UnixSocket.send(number, $0) }
    #expect(sent == .bytes(bytes.count))
  }

  /// Returns all bytes that the agent has sent.
  func received() throws -> [UInt8] {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    let number = peer?.rawValue ?? -1
    while true {
      let count = recv(number, &buffer, buffer.count, Int32(MSG_DONTWAIT))
      guard count > 0 else { break }
      bytes += buffer[..<count]
    }
    return bytes
  }
}

@Suite("§20: A compositor that sends bad messages", .serialized)
struct BadSwayTests {
  private let sway: PosingSway
  private let focus: FocusFixture

  private static let empty = #"{"id":1,"focused":true,"nodes":[],"floating_nodes":[]}"#

  init() throws {
    sway = try PosingSway()
    focus = try FocusFixture(sway.environment)
    #expect(try sway.accept())
  }

  private func answer() throws {
    try sway.send(.subscribe, #"{"success":true}"#)
    try sway.send(.getTree, Self.empty)
    try focus.wait()
  }

  private static let requests =
    SwayMessageBuffer.request(.subscribe, #"["window","workspace","shutdown"]"#)
    + SwayMessageBuffer.request(.getTree)

  @Test("The monitor subscribes to events before it asks for the tree")
  func requests() throws {
    #expect(try sway.received() == Self.requests)
    try answer()
    #expect(focus.windows == SessionWindows())
  }

  @Test(
    "A bad message ends the connection, and the monitor connects again",
    arguments: [
      (Array("not-i3".utf8), SwayViolation.badMagic),
      (SwayMessageBuffer.request(.getTree, "{}"), .unexpectedReply(.getTree)),
      (SwayMessageBuffer.request(.subscribe, #"{"success":true}"#), .unexpectedReply(.subscribe)),
      (SwayMessageBuffer.request(.windowEvent, "{}"), .eventWithoutChange(.windowEvent)),
    ])
  func bad(_ bytes: [UInt8], _ violation: SwayViolation) throws {
    try answer()
    try sway.send(bytes)
    try focus.waitForUnknown()
    #expect(focus.reports.last == .unknown(reason: .sway(violation)))
    try focus.wait("the monitor connects") { _ in try sway.accept() }
    try answer()
  }

  @Test("A refused subscription and a malformed tree end the connection without a report")
  func firstReplies() throws {
    try sway.send(.subscribe, #"{"success":false}"#)
    try focus.wait("the monitor connects") { _ in try sway.accept() }
    try sway.send(.subscribe, #"{"success":true}"#)
    try sway.send(.getTree, #"{"id":1}"#)
    try focus.wait("the monitor connects") { _ in try sway.accept() }
    #expect(focus.reports.isEmpty)
    try answer()
  }

  @Test("The monitor gives up a compositor that closes every connection, until its socket is new")
  func givenUp() throws {
    for _ in 0..<7 {
      sway.closePeer()
      try focus.wait("the monitor connects") { _ in try sway.accept() }
    }
    sway.closePeer()
    // A further attempt would follow after 1.28 s. The test waits twice as long.
    var isOver = false
    let timer = try focus.loop.timer { isOver = true }
    timer.set(BootClock.now() + 2_560_000_000)
    try focus.wait("the time passes") { _ in isOver }
    #expect(try !sway.accept())
    try sway.stop()
    try sway.listen()
    try focus.wait("the monitor connects") { _ in try sway.accept() }
    try answer()
  }

  @Test("10,000 events cause one request for the tree, and changes of titles cause none")
  func flood() throws {
    try answer()
    _ = try sway.received()
    let focusEvent = SwayMessageBuffer.request(.windowEvent, #"{"change":"focus"}"#)
    let titleEvent = SwayMessageBuffer.request(.windowEvent, #"{"change":"title"}"#)
    var treeCount = 0
    for _ in 0..<100 {
      // Sends the 100 events with one call. Many small messages could fill the socket, because the
      // turn of the loop may handle another source and leave the messages unread.
      try sway.send([[UInt8]](repeating: focusEvent, count: 100).flatMap { $0 })
      try focus.loop.turn(within: .seconds(1))
      let requests = try sway.received()
      #expect(requests == SwayMessageBuffer.request(.getTree) || requests.isEmpty)
      if !requests.isEmpty { treeCount += 1 }
    }
    #expect(treeCount == 1)
    #expect(focus.reports.count == 1)
    try sway.send(.getTree, Self.empty)
    try sway.send(titleEvent)
    try focus.loop.turn(within: .seconds(1))
    #expect(try sway.received().isEmpty)
    // A tree with the same windows causes no report.
    #expect(focus.reports.count == 1)
  }

  @Test("A shutdown event ends the connection")
  func shutdown() throws {
    try answer()
    try sway.send(.shutdownEvent, #"{"change":"exit"}"#)
    try focus.waitForUnknown()
  }
}

import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

// Fixtures for keep-alive handlers and managed sockets.

extension DaemonFixture.Settings {
  /// Settings with applications of mode voip, which register themselves. Each has its own seat, so
  /// that activating one does not send another to the background.
  static func voip(_ ids: String..., policy: [(String, String)] = []) -> Self {
    .init(
      policy: policy,
      manifests: ids.enumerated().map { number, id in
        (id, "background-modes = [\"voip\"]\nseat = \"seat\(number)\"")
      })
  }
}

extension DaemonFixture {
  /// Returns the keep-alive handler that the daemon shows; nil if there is none.
  func keepAlive(_ id: String) throws -> ControlInterface.KeepAlive? {
    try application(id).instance?.keepAlive
  }

  /// Sends the application to the background, and waits until it is suspended.
  func suspend(_ id: String, _ monitor: Monitor) throws {
    try sendToBackground(id)
    try monitor.transition(id, to: .suspended)
  }
}

extension TestApplication {
  /// Starts an application, and waits until it has registered and has received the callbacks of the
  /// foreground.
  static func active(
    _ daemon: DaemonFixture, _ id: String, _ flags: String...
  ) throws -> TestApplication {
    let application = try TestApplication(daemon, id, flags: flags)
    try application.registered()
    #expect(try application.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    return application
  }

  @discardableResult
  func setKeepAlive(_ seconds: JSONValue) throws -> JSONValue {
    try call("SetKeepAliveTimeout", ["seconds": seconds])
  }

  /// Sends a message unchanged. Returns the answer, or `closed` if the connection has ended.
  func raw(_ message: String) throws -> JSONValue {
    try process.writeLine("raw \(message)")
    return try nextAnswer()
  }

  /// Waits for the next callback of the given kind, and skips those of other kinds.
  @discardableResult
  func callback(_ kind: String) throws -> Int {
    while true {
      let callback = try nextCallback()
      if callback.kind == kind { return callback.id }
    }
  }

  // MARK: Managed sockets

  /// Connects to a server, and passes the connection to the daemon.
  ///
  /// - Returns: the server's end of the connection, and the id of the managed socket.
  func connect(to server: StreamServer) throws -> (peer: StreamEnd, socket: Int) {
    try process.writeLine("connect \(server.address)")
    let peer = try server.accept()
    let answer = try nextAnswer()
    guard case .integer(let socket)? = answer["parameters"]?["socket"] else {
      throw Unexpected(line: "\(answer)")
    }
    return (peer, Int(socket))
  }

  /// Passes a descriptor to the daemon: one of the application's connections by its index, or a
  /// descriptor of another kind.
  func handOver(_ what: String) throws -> JSONValue {
    try process.writeLine("hand \(what)")
    return try nextAnswer()
  }

  struct SocketEvent: Equatable {
    var id: Int
    /// For each socket id, the conditions that are true.
    var sockets: [Int: Set<String>]
  }

  /// Waits for the next socket event, and skips callbacks.
  func nextSocketEvent() throws -> SocketEvent {
    while true {
      let event = try nextEvent()
      if event["parameters"]?["callback"] != nil { continue }
      guard let told = event["parameters"]?["socketEvent"], case .integer(let id)? = told["id"],
        case .array(let sockets)? = told["sockets"]
      else { throw Unexpected(line: "\(event)") }
      let named = sockets.compactMap { socket -> (Int, Set<String>)? in
        guard case .integer(let number)? = socket["socket"] else { return nil }
        let conditions = ["data", "urgentData", "hangUp", "error", "unwatched"].filter {
          socket[$0] == true
        }
        return (Int(number), Set(conditions))
      }
      return SocketEvent(id: Int(id), sockets: .init(named) { $1 })
    }
  }

  struct Reading: Equatable {
    var text: String
    /// Whether the application has read the end of the stream.
    var isAtEnd: Bool
    var error: String?
  }

  /// Waits for the application's next report about data that it has read. With the flag `drain`,
  /// the application reads without a request.
  func nextReading() throws -> Reading {
    let reading = try nextReadingValue()
    guard case .string(let text)? = reading["text"] else { throw Unexpected(line: "\(reading)") }
    var error: String?
    if case .string(let problem)? = reading["error"] { error = problem }
    return Reading(text: text, isAtEnd: reading["end"] == true, error: error)
  }

  /// Reads the available data of one of the application's connections.
  func read(_ connection: Int = 0) throws -> Reading {
    try process.writeLine("read \(connection)")
    return try nextReading()
  }

  func readUrgent(_ connection: Int = 0) throws -> Reading {
    try process.writeLine("urgent \(connection)")
    return try nextReading()
  }

  func close(_ connection: Int = 0) throws {
    try process.writeLine("close \(connection)")
    _ = try nextAnswer()
  }

  /// Reconnects to the restarted daemon, and opens the event stream.
  func reconnect() throws {
    try process.writeLine("reconnect")
    try registered()
  }

  /// Waits until the event stream has ended.
  func streamEnd() throws {
    while try nextEvent()["closed"] != true {}
  }
}

extension Monitor {
  /// Returns the number of changes of the given kind that the monitor has received for an
  /// application.
  func count(_ kind: ControlInterface.ChangeKind, of application: String) -> Int {
    seen.count { $0.kind == kind && $0.application == application }
  }

  @discardableResult
  func next(
    _ kind: ControlInterface.ChangeKind, of application: String
  ) throws -> Change {
    try next("\(kind.rawValue) of \(application)") {
      $0.kind == kind && $0.application == application
    }
  }
}

import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

// What lets an application sleep and still be reachable, as tests set it up and look at it.

extension DaemonFixture.Settings {
  /// With applications of mode voip, which register by themselves. Each has a seat of its own, so
  /// that none sends another away.
  static func voip(_ ids: String..., policy: [(String, String)] = []) -> Self {
    .init(
      policy: policy,
      manifests: ids.enumerated().map { number, id in
        (id, "background-modes = [\"voip\"]\nseat = \"seat\(number)\"")
      })
  }
}

extension DaemonFixture {
  /// What is shown of a keep-alive handler; nil where there is none.
  func keepAlive(_ id: String) throws -> ControlInterface.KeepAlive? {
    try application(id).instance?.keepAlive
  }

  /// Sends it away and waits until it is suspended.
  func suspend(_ id: String, _ monitor: Monitor) throws {
    try sendToBackground(id)
    try monitor.transition(id, to: .suspended)
  }
}

extension TestApplication {
  /// Registers, and waits until it is in the foreground and has heard so.
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

  /// Sends a message as it stands; its answer, or `closed` where the connection has ended.
  func raw(_ message: String) throws -> JSONValue {
    try process.writeLine("raw \(message)")
    return try nextAnswer()
  }

  /// Waits for the next callback of that kind; those of other kinds are passed over.
  @discardableResult
  func callback(_ kind: String) throws -> Int {
    while true {
      let callback = try nextCallback()
      if callback.kind == kind { return callback.id }
    }
  }

  // MARK: Managed sockets

  /// Connects to a server and hands the connection over.
  ///
  /// - Returns: the server's end, and the socket's number.
  func connect(to server: StreamServer) throws -> (peer: StreamEnd, socket: Int) {
    try process.writeLine("connect \(server.address)")
    let peer = try server.accept()
    let answer = try nextAnswer()
    guard case .integer(let socket)? = answer["parameters"]?["socket"] else {
      throw Unexpected(line: "\(answer)")
    }
    return (peer, Int(socket))
  }

  /// Hands over what is no connection, or one of its connections again.
  func handOver(_ what: String) throws -> JSONValue {
    try process.writeLine("hand \(what)")
    return try nextAnswer()
  }

  struct SocketEvent: Equatable {
    var id: Int
    /// What is told of each socket, by its number: the conditions that are true.
    var sockets: [Int: Set<String>]
  }

  /// Waits for the next socket event; callbacks are passed over.
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
    /// Whether the end of the stream came.
    var isAtEnd: Bool
    var error: String?
  }

  /// What it has read by itself (flag `drain`).
  func nextReading() throws -> Reading {
    let reading = try nextReadingValue()
    guard case .string(let text)? = reading["text"] else { throw Unexpected(line: "\(reading)") }
    var error: String?
    if case .string(let problem)? = reading["error"] { error = problem }
    return Reading(text: text, isAtEnd: reading["end"] == true, error: error)
  }

  /// Reads what there is on one of its connections.
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

  /// Connects to the daemon anew, after its end, and opens the event stream.
  func reconnect() throws {
    try process.writeLine("reconnect")
    try registered()
  }

  /// Waits until its event stream has ended.
  func streamEnd() throws {
    while try nextEvent()["closed"] != true {}
  }
}

extension Monitor {
  /// How often something of that kind has been seen of an application.
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

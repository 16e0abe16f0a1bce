import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// An application in a separate process that runs Resources/application.py. The script shares no
/// code with the project.
final class TestApplication {
  let process: TestProcess
  let id: String
  private var events: [JSONValue] = []
  private var answers: [JSONValue] = []
  private var children: [JSONValue] = []
  private var readings: [JSONValue] = []
  private var writtenCount = 0

  var pid: Int32 { process.pid }

  /// Starts the application.
  ///
  /// - Parameter flags: flags of Resources/application.py, such as `manual`.
  convenience init(
    _ daemon: DaemonFixture, _ id: String, _ flags: String..., uid: UInt32? = nil,
    marker: String? = nil
  ) throws {
    try self.init(daemon, id, flags: flags, uid: uid, marker: marker)
  }

  init(
    _ daemon: DaemonFixture, _ id: String, flags: [String], uid: UInt32? = nil,
    marker: String? = nil
  ) throws {
    self.id = id
    process = try daemon.python(
      Programs.resource("application.py"), [daemon.socketPath, id] + flags, uid: uid,
      marker: marker)
  }

  /// Waits until the application is registered, and returns the registration.
  @discardableResult
  func registered() throws -> JSONValue {
    let event = try nextEvent()
    return try #require(event["parameters"]?["registered"], "\(event)")
  }

  /// Waits for the next event, such as a callback, an expiration or an error.
  func nextEvent() throws -> JSONValue {
    while events.isEmpty { try read() }
    return events.removeFirst()
  }

  /// Returns the next event, or nil if the output has ended.
  func nextEventOrEnd() throws -> JSONValue? {
    while events.isEmpty { if try !readOrEnd() { return nil } }
    return events.removeFirst()
  }

  /// Returns the answers that have arrived and that no call of `nextAnswer` has returned.
  func takeAnswers() -> [JSONValue] {
    defer { answers = [] }
    return answers
  }

  /// Waits for the next event with a field, such as `audioInterruption`, and returns the field.
  func nextEvent(with field: String) throws -> JSONValue {
    while true {
      if let value = try nextEvent()["parameters"]?[field] { return value }
    }
  }

  /// Acknowledges an event by its id.
  func acknowledge(event: JSONValue) throws -> JSONValue {
    try call("Acknowledge", ["callback": try #require(event["id"])])
  }

  /// Waits for the next callback, and returns its kind and id.
  func nextCallback() throws -> (kind: String, id: Int) {
    let event = try nextEvent()
    let callback = try #require(event["parameters"]?["callback"], "\(event)")
    guard case .string(let kind)? = callback["kind"], case .integer(let id)? = callback["id"] else {
      throw Unexpected(line: "\(event)")
    }
    return (kind, Int(id))
  }

  /// Waits for the next expiration, and returns its task.
  func nextExpiration() throws -> Int {
    let event = try nextEvent()
    guard case .integer(let task)? = event["parameters"]?["expiration"]?["task"] else {
      throw Unexpected(line: "\(event)")
    }
    return Int(task)
  }

  func callbackKinds(_ count: Int) throws -> [String] {
    try (0..<count).map { _ in try nextCallback().kind }
  }

  /// Acknowledges the next callbacks, and checks that they are of these kinds.
  func acknowledge(_ kinds: [String]) throws {
    for kind in kinds {
      let callback = try nextCallback()
      #expect(callback.kind == kind)
      _ = try acknowledge(callback.id)
    }
  }

  /// Calls a method of `org.taskschedd.Application`, or the method with the given full name.
  func call(_ method: String, _ parameters: JSONValue = [:]) throws -> JSONValue {
    try send(method, parameters)
    return try nextAnswer()
  }

  /// Calls without waiting for the answer.
  func send(_ method: String, _ parameters: JSONValue = [:]) throws {
    try process.writeLine("call \(Self.fullName(method)) \(parameters)")
  }

  func nextAnswer() throws -> JSONValue {
    while answers.isEmpty { try read() }
    return answers.removeFirst()
  }

  /// Begins a task and returns its id.
  @discardableResult
  func begin(_ name: String = "work") throws -> Int {
    let answer = try call("BeginBackgroundTask", ["name": .string(name)])
    guard case .integer(let task)? = answer["parameters"]?["task"] else {
      throw Unexpected(line: "\(answer)")
    }
    return Int(task)
  }

  func end(_ task: Int) throws -> JSONValue {
    try call("EndBackgroundTask", ["task": .integer(Int64(task))])
  }

  func lock(_ path: String) throws -> JSONValue {
    try process.writeLine("lock \(path)")
    return try nextAnswer()
  }

  func unlock() throws -> JSONValue {
    try process.writeLine("unlock")
    return try nextAnswer()
  }

  func acknowledge(_ callback: Int) throws -> JSONValue {
    try call("Acknowledge", ["callback": .integer(Int64(callback))])
  }

  /// Forks a child of the application, calls a method from the child, and returns the answer. The
  /// child continues to run.
  func callFromChild(_ method: String, _ parameters: JSONValue = [:]) throws -> JSONValue {
    try writeFromChild(method, parameters)
    return try nextAnswer()
  }

  /// Calls a method from a new child. Waits only until the child has written the call to the
  /// socket, so that a stopped daemon does not block the test.
  func writeFromChild(_ method: String, _ parameters: JSONValue = [:]) throws {
    try process.writeLine("fork \(Self.fullName(method)) \(parameters)")
    try awaitWritten()
  }

  /// Calls a method after `count` calls without a reply. Waits only until all calls are in the
  /// socket, so that a stopped daemon does not block the test.
  func write(_ method: String, _ parameters: JSONValue = [:], behind count: Int) throws {
    try process.writeLine("behind \(count) \(Self.fullName(method)) \(parameters)")
    try awaitWritten()
  }

  private func awaitWritten() throws {
    while writtenCount == 0 { try read() }
    writtenCount -= 1
  }

  /// Returns the pid of the next child that the application has forked.
  func nextChild() throws -> Int32 {
    while children.isEmpty { try read() }
    guard case .integer(let pid) = children.removeFirst() else { throw Unexpected(line: "child") }
    return Int32(pid)
  }

  /// Returns the next report about data that the application has read.
  func nextReadingValue() throws -> JSONValue {
    while readings.isEmpty { try read() }
    return readings.removeFirst()
  }

  static func fullName(_ method: String) -> String {
    method.utf8.contains(UInt8(ascii: ".")) ? method : "org.taskschedd.Application.\(method)"
  }

  private func read() throws {
    guard try readOrEnd() else { throw Unexpected(line: "its output ended") }
  }

  private func readOrEnd() throws -> Bool {
    guard let line = try process.readLine() else { return false }
    guard let space = line.firstIndex(of: " ") else { throw Unexpected(line: line) }
    let value = try JSONParser.parse(Array(line[line.index(after: space)...].utf8))
    switch line[..<space] {
    case "event": events.append(value)
    case "answer": answers.append(value)
    case "child": children.append(value)
    case "read": readings.append(value)
    case "written": writtenCount += 1
    case _: throw Unexpected(line: line)
    }
    return true
  }

  struct Unexpected: Error, CustomStringConvertible {
    let line: String
    var description: String { "the application said: \(line)" }
  }
}

extension JSONValue {
  /// The last component of the error's name; nil if the answer is not an error.
  var errorName: String? {
    guard case .string(let name)? = self["error"] else { return nil }
    return name.split(separator: ".").last.map(String.init)
  }
}

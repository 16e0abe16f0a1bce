import LinuxSystem
import TaskSchedulerWire
import TestSupport

/// Another user's connections to the daemon, which a process of that user opens
/// (Resources/other_user.py).
final class OtherUser {
  let process: TestProcess

  /// Starts the process of the user.
  ///
  /// - Parameter groups: supplementary groups.
  init(_ daemon: DaemonFixture, uid: UInt32, gid: UInt32? = nil, groups: [UInt32] = []) throws {
    process = try daemon.python(
      Programs.resource("other_user.py"), [daemon.socketPath], uid: uid, gid: gid, groups: groups)
  }

  /// Opens a connection, and returns its number.
  func open() throws -> Int {
    guard case .integer(let number) = try ask("open") else {
      throw TestApplication.Unexpected(line: "open")
    }
    return Int(number)
  }

  @discardableResult
  func call(
    _ connection: Int, _ method: String, _ parameters: JSONValue = [:], more: Bool = false
  ) throws -> JSONValue {
    try ask("\(more ? "more" : "call") \(connection) \(method) \(parameters)")
  }

  func next(_ connection: Int) throws -> JSONValue { try ask("next \(connection)") }

  /// Writes the given number of bytes of a message, but not its end.
  func write(_ connection: Int, bytes: Int) throws { _ = try ask("write \(connection) \(bytes)") }

  func close(_ connection: Int) throws { _ = try ask("close \(connection)") }

  private func ask(_ line: String) throws -> JSONValue {
    try process.writeLine(line)
    return try JSONParser.parse(Array(try process.nextLine().utf8))
  }
}

extension JSONValue {
  /// The exceeded quota and its limit, such as `MaxTasksPerUser = 3`; nil if the answer is not the
  /// error QuotaExceeded.
  var quotaExceeded: String? {
    guard errorName == "QuotaExceeded", case .string(let quota)? = self["parameters"]?["quota"],
      case .integer(let limit)? = self["parameters"]?["limit"]
    else { return nil }
    return "\(quota) = \(limit)"
  }
}

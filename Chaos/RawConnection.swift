import Glibc
import LinuxSystem
import TaskSchedulerWire

/// A connection to the daemon that reports each message and the end of the connection.
final class RawConnection {
  enum Incoming {
    case message(JSONValue)
    case nothing
    case closed
  }

  /// The age in nanoseconds from which on a connection must survive a kill of the daemon. The
  /// daemon saves a new connection after 50 ms, or later on an overloaded machine.
  private static let youth: UInt64 = 200_000_000

  private let socket: FileDescriptor
  private var answeredAt: UInt64?
  private var buffer = MessageBuffer(messageBytesMax: 1 << 24)

  var number: Int32 { socket.rawValue }

  /// Returns nil if the daemon does not accept connections now.
  init?() {
    guard let socket = try? UnixSocket.connect(path: Settings.socket) else { return nil }
    self.socket = socket
  }

  /// Sends a call. Returns false if the daemon has closed the connection.
  func send(_ method: String, _ parameters: JSONValue, more: Bool = false) -> Bool {
    var message: [UInt8] = []
    message.append(
      json: ["method": .string(method), "parameters": parameters, "more": .bool(more)])
    message.append(0)
    var rest = message[...]
    while !rest.isEmpty {
      switch rest.withUnsafeBytes({ try? UnixSocket.send(number, $0) }) {
      case .bytes(let count)?: rest = rest.dropFirst(count)
      case .wouldBlock?: _ = try? Readiness.wait(for: Int16(POLLOUT), on: number)
      case .closed?, nil: return false
      }
    }
    return true
  }

  /// Whether the connection is so young that a kill of the daemon may close it.
  var isYoung: Bool { answeredAt.map { BootClock.now() < $0 + Self.youth } ?? true }

  /// Returns the next message that arrives within the given time.
  func receive(within nanoseconds: UInt64) -> Incoming {
    let incoming = take(within: nanoseconds)
    if answeredAt == nil, case .message = incoming { answeredAt = BootClock.now() }
    return incoming
  }

  private func take(within nanoseconds: UInt64) -> Incoming {
    do {
      if let message = try buffer.next() { return .message(try JSONParser.parse(message)) }
      let ready = try Readiness.wait(
        for: Int16(POLLIN), on: number, timeout: .nanoseconds(Int64(nanoseconds)))
      if ready == 0 { return .nothing }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let count = recv(number, &bytes, bytes.count, Int32(MSG_DONTWAIT))
      if count < 0, errno == EAGAIN || errno == EINTR { return .nothing }
      if count <= 0 { return .closed }
      buffer.append(Array(bytes[..<count]))
      if let message = try buffer.next() { return .message(try JSONParser.parse(message)) }
      return .nothing
    } catch {
      return .closed
    }
  }
}

extension JSONValue {
  /// The last component of the error's name; nil if the answer is not an error.
  var errorName: String? {
    guard case .string(let name)? = self["error"] else { return nil }
    return name.split(separator: ".").last.map(String.init)
  }

  var integer: Int? {
    guard case .integer(let integer) = self else { return nil }
    return Int(integer)
  }

  var string: String? {
    guard case .string(let string) = self else { return nil }
    return string
  }
}

import Glibc
import LinuxSystem
import Synchronization
import TaskSchedulerWire

/// One blocking connection to taskschedd, or to any Varlink service at a Unix socket.
///
/// A call sends its message and waits for the answer; calls of several threads take turns. If the
/// daemon refuses a call, the call throws `ApplicationInterface.Failure`,
/// `ControlInterface.Failure` or `StandardFailure`. It throws `UnknownFailure` if this library does
/// not know the error of the daemon. Every other error is a `ConnectionError`. The connection stays
/// usable after a refusal, `occupied` or `unreadableAnswer`. After any other `ConnectionError`,
/// each later call throws the same error.
///
/// A process may be stopped in the middle of a call. The call continues when the process is
/// resumed: it reads an answer that has arrived, even if the timeout has passed.
package final class Connection: Sendable {
  private struct State {
    var peer = ClientConnection()
    var buffer = MessageBuffer(messageBytesMax: Connection.answerBytesMax)
    /// The method of the `callMore` in progress; nil if there is none. A `callMore` is in progress
    /// until the caller has read its last reply.
    var streaming: String?
    var error: ConnectionError?
  }

  /// The maximum length of an answer in bytes: 64 MiB, enough for a list of about 100,000
  /// applications.
  ///
  /// The limit is high, because the daemon's lists grow with the number of applications. The
  /// library trusts the daemon, which runs as root or as the caller's user.
  package static let answerBytesMax = 1 << 26

  /// The path of the socket, for messages.
  package let path: String

  private let socket: FileDescriptor
  private let state = Locked(State())
  private let isClosed = Atomic(false)

  private init(taking socket: consuming FileDescriptor, path: String) {
    self.socket = socket
    self.path = path
  }

  /// Connects to a daemon.
  ///
  /// - Throws: `noDaemon` if no daemon listens, `notPermitted` or `system`.
  package static func connect(
    to socketPath: SocketPath = .standard
  ) throws(ConnectionError) -> Connection {
    do throws(SystemError) {
      let socket = try UnixSocket.connect(path: socketPath.path, nonblocking: true)
      return Connection(taking: socket, path: socketPath.path)
    } catch {
      throw ConnectionError(connectingTo: socketPath.path, error)
    }
  }

  /// The socket, for poll(2). It is readable when an answer has arrived, and when the daemon has
  /// closed the connection.
  package var descriptor: Int32 { socket.rawValue }

  /// Closes the connection. Any thread may do this. A call that waits for its answer throws
  /// `ConnectionError.closed`.
  package func close() {
    isClosed.store(true, ordering: .releasing)
    // close(2) would free the descriptor while another thread waits on it. shutdown(2) wakes that
    // thread, and deinit closes the descriptor later. The shutdown fails only if the peer has
    // closed the connection.
    try? UnixSocket.shutdown(socket.rawValue, Int(SHUT_RDWR))
  }

  // MARK: - One answer

  /// Calls the method and waits for its answer.
  ///
  /// - Parameters:
  ///   - fileDescriptors: The descriptors to send with the message, in the order of their indices.
  ///     They stay open in this process.
  ///   - timeout: How long to wait for the answer; nil waits without a limit. The daemon may still
  ///     carry out a call that has timed out.
  package func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, fileDescriptors: [Int32] = [],
    timeout: Duration? = nil
  ) throws -> Method.Output {
    let deadline = Deadline(method: Method.name, timeout: timeout)
    let answer = try state.withLock { state throws(ConnectionError) in
      try send(method, input, more: false, fileDescriptors, deadline, &state)
      guard let answer = try receive(deadline, &state) else { throw deadline.error }
      return answer
    }
    switch answer {
    case .reply(let parameters, _): return try decode(parameters, method)
    case .failure(let name, let parameters):
      throw ConnectionError.failure(method: Method.name, name: name, parameters: parameters)
    }
  }

  // MARK: - Many answers

  /// Calls the method with Varlink's flag `more`, which permits any number of replies. The
  /// connection accepts no other call until the caller has read the last reply.
  package func callMore<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, fileDescriptors: [Int32] = [],
    timeout: Duration? = nil
  ) throws -> Replies<Method> {
    let deadline = Deadline(method: Method.name, timeout: timeout)
    try state.withLock { state throws(ConnectionError) in
      try send(method, input, more: true, fileDescriptors, deadline, &state)
      state.streaming = Method.name
    }
    return Replies(connection: self)
  }

  /// The replies to one call with `more`.
  package struct Replies<Method: InterfaceMethod>: Sendable {
    fileprivate let connection: Connection

    /// Waits for the next reply and returns it; nil after the last reply.
    ///
    /// - Parameter timeout: How long to wait; nil waits without a limit.
    package func next(timeout: Duration? = nil) throws -> Method.Output? {
      try connection.nextReply(Method.self, Deadline(method: Method.name, timeout: timeout))
    }

    /// Returns the next reply without waiting; nil if no reply has arrived, and after the last
    /// reply.
    package func nextIfReady() throws -> Method.Output? {
      try connection.nextReply(Method.self, nil)
    }
  }

  /// Returns the next reply to the call with `more`; nil after the last reply.
  ///
  /// - Parameter deadline: The instant at which to stop waiting. With nil, the function does not
  ///   wait, and returns nil if no reply has arrived.
  private func nextReply<Method: InterfaceMethod>(
    _ method: Method.Type, _ deadline: Deadline?
  ) throws -> Method.Output? {
    let answer = try state.withLock { state throws(ConnectionError) -> ClientConnection.Answer? in
      if state.streaming == nil && state.error == nil { return nil }
      let answer = try receive(deadline, &state)
      if state.peer.waitingCount == 0 { state.streaming = nil }
      return answer
    }
    switch answer {
    case nil: return nil
    case .reply(let parameters, _): return try decode(parameters, method)
    case .failure(let name, let parameters):
      throw ConnectionError.failure(method: Method.name, name: name, parameters: parameters)
    }
  }

  private func decode<Method: InterfaceMethod>(
    _ parameters: JSONValue, _ method: Method.Type
  ) throws(ConnectionError) -> Method.Output {
    do throws(ParameterError) {
      return try parameters.decode(Method.Output.self)
    } catch {
      throw .unreadableAnswer(method: Method.name, error)
    }
  }
}

// MARK: - Bytes

extension Connection {
  private func send<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, more: Bool, _ fileDescriptors: [Int32],
    _ deadline: Deadline, _ state: inout State
  ) throws(ConnectionError) {
    if let error = state.error { throw error }
    if let streaming = state.streaming { throw .occupied(method: streaming) }
    var output: [UInt8] = []
    state.peer.call(method, input, more: more, output: &output)
    do throws(ConnectionError) {
      try send(output, fileDescriptors, deadline)
    } catch {
      state.error = error
      throw error
    }
  }

  private func send(
    _ bytes: [UInt8], _ fileDescriptors: [Int32], _ deadline: Deadline
  ) throws(ConnectionError) {
    var sent = 0
    while sent < bytes.count {
      let riding = sent == 0 ? fileDescriptors : []
      switch try sendOnce(bytes[sent...], riding) {
      case .bytes(let count): sent += count
      case .wouldBlock: try wait(for: POLLOUT, deadline)
      case .closed: throw closedError
      }
    }
  }

  private func sendOnce(
    _ bytes: ArraySlice<UInt8>, _ fileDescriptors: [Int32]
  ) throws(ConnectionError) -> Transfer {
    let result = bytes.withUnsafeBytes { rest in
      fileDescriptors.withUnsafeBufferPointer { numbers in
        Result { () throws(SystemError) in
          try UnixSocket.send(socket.rawValue, rest, descriptors: numbers)
        }
      }
    }
    switch result {
    case .success(let transfer): return transfer
    case .failure(let error): throw .system(error)
    }
  }

  /// Receives a message. Without a deadline, does not wait, and returns nil if no whole message has
  /// arrived.
  private func receive(
    _ deadline: Deadline?, _ state: inout State
  ) throws(ConnectionError) -> ClientConnection.Answer? {
    if let error = state.error { throw error }
    do throws(ConnectionError) {
      guard let message = try receiveMessage(deadline, &state.buffer) else { return nil }
      do throws(ProtocolViolation) {
        return try state.peer.receive(message)
      } catch {
        throw ConnectionError.violation(error)
      }
    } catch {
      state.error = error
      throw error
    }
  }

  private func receiveMessage(
    _ deadline: Deadline?, _ buffer: inout MessageBuffer
  ) throws(ConnectionError) -> [UInt8]? {
    while true {
      do throws(ProtocolViolation) {
        if let message = try buffer.next() { return message }
      } catch {
        throw .violation(error)
      }
      switch try receiveBytes(&buffer) {
      case .bytes: continue
      case .wouldBlock:
        guard let deadline else { return nil }
        try wait(for: POLLIN, deadline)
      case .closed: throw closedError
      }
    }
  }

  private func receiveBytes(_ buffer: inout MessageBuffer) throws(ConnectionError) -> Transfer {
    // The daemon sends no descriptors to a client. The bag closes any that arrive.
    var descriptors = DescriptorBag()
    var bytes = [UInt8](repeating: 0, count: 4096)
    let result = bytes.withUnsafeMutableBytes { all in
      Result { () throws(ReceiveError) in
        try UnixSocket.receive(socket.rawValue, into: all, descriptors: &descriptors)
      }
    }
    switch result {
    case .success(.bytes(let count)):
      buffer.append(Array(bytes[..<count]))
      return .bytes(count)
    case .success(let other): return other
    case .failure(.system(let error)): throw .system(error)
    case .failure(.descriptorsLost), .failure(.short): throw .closedByDaemon
    }
  }

  private var closedError: ConnectionError {
    isClosed.load(ordering: .acquiring) ? .closed : .closedByDaemon
  }

  private func wait(for events: Int32, _ deadline: Deadline) throws(ConnectionError) {
    do throws(SystemError) {
      let happened = try Readiness.wait(
        for: Int16(events), on: socket.rawValue, timeout: deadline.remaining)
      if happened != 0 { return }
    } catch {
      throw .system(error)
    }
    throw deadline.error
  }
}

/// The deadline of a call, and the error of a call that misses it.
private struct Deadline {
  let method: String
  let timeout: Duration?
  private let end: UInt64

  init(method: String, timeout: Duration?) {
    self.method = method
    self.timeout = timeout
    let (seconds, attoseconds) = (timeout ?? .zero).components
    let nanoseconds = max(0, min(seconds, 1 << 32)) * 1_000_000_000 + attoseconds / 1_000_000_000
    end = BootClock.now() &+ UInt64(max(0, nanoseconds))
  }

  /// The time until the deadline; nil without a limit.
  var remaining: Duration? {
    if timeout == nil { return nil }
    let now = BootClock.now()
    return .nanoseconds(end > now ? Int64(clamping: end - now) : 0)
  }

  var error: ConnectionError { .timedOut(method: method, timeout: timeout ?? .zero) }
}

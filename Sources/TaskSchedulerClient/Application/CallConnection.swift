import LinuxSystem
import TaskSchedulerWire

/// The connection for calls. The first call opens the connection. After the connection has failed,
/// the next call opens another one.
final class CallConnection: Sendable {
  /// The time limit for an answer, the same as in D-Bus. The daemon answers within milliseconds.
  static let answerTimeout: Duration = .seconds(25)

  private struct State {
    var connection: Connection?
    var isClosed = false
  }

  private let socketPath: SocketPath
  private let state = Locked(State())

  init(socketPath: SocketPath) {
    self.socketPath = socketPath
  }

  /// Makes a call. After an error of the connection, the next call opens a new connection.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, fileDescriptors: [Int32] = []
  ) throws(ApplicationError) -> Method.Output {
    let connection = try current()
    do {
      return try connection.call(
        method, input, fileDescriptors: fileDescriptors, timeout: Self.answerTimeout)
    } catch {
      let error = ApplicationError(error)
      if error.isOfConnection { drop(connection) }
      throw error
    }
  }

  /// Closes the connection permanently. A call in progress fails.
  func close() {
    let connection = state.withLock { state in
      state.isClosed = true
      return state.connection
    }
    connection?.close()
  }

  private func current() throws(ApplicationError) -> Connection {
    try state.withLock { state throws(ApplicationError) in
      if state.isClosed { throw .closed }
      if let connection = state.connection { return connection }
      do throws(ConnectionError) {
        let connection = try Connection.connect(to: socketPath)
        state.connection = connection
        return connection
      } catch {
        throw ApplicationError(connection: error)
      }
    }
  }

  private func drop(_ connection: Connection) {
    state.withLock { state in
      if state.connection === connection { state.connection = nil }
    }
  }
}

/// The pauses between attempts: first none, then 10 ms, then twice the previous pause, up to 1 s.
struct RetryDelays: Sendable {
  /// The number of pauses after which a request fails. The pauses last 0 + 10 + 20 + … + 1000 ms,
  /// 2.3 s in total. A daemon that systemd restarts is ready again after a tenth of that time.
  static let requestMax = 9

  /// The number of pauses so far.
  private(set) var count = 0
  private var next: Duration = .zero

  mutating func take() -> Duration {
    count += 1
    defer { next = next == .zero ? .milliseconds(10) : min(next * 2, .seconds(1)) }
    return next
  }
}

import LinuxSystem
import TaskSchedulerWire

/// The connection for calls: opened when it is needed, and again after it has failed.
final class CallLine: Sendable {
  /// How long an answer may take; the daemon answers within milliseconds. D-Bus's own default.
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

  /// One attempt. After a `connection` error the next call opens a new connection.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, fileDescriptors: [Int32] = []
  ) throws(ApplicationError) -> Method.Output {
    let connection = try current()
    do {
      return try connection.call(
        method, input, fileDescriptors: fileDescriptors, timeout: Self.answerTimeout)
    } catch {
      let error = ApplicationError(error)
      if case .connection = error { drop(connection) }
      throw error
    }
  }

  /// No call is possible any more; one that waits fails.
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
        throw .connection(error)
      }
    }
  }

  private func drop(_ connection: Connection) {
    state.withLock { state in
      if state.connection === connection { state.connection = nil }
    }
  }
}

/// The pauses between attempts: none, then doubling from 10 ms to 1 s.
struct RetryPauses: Sendable {
  /// How many a request takes before it gives up: 0 + 10 + 20 + … + 1000 ms, 2.3 s in all. A
  /// daemon that systemd restarts is back in a tenth of that.
  static let requestMax = 9

  /// How many have been taken.
  private(set) var count = 0
  private var next: Duration = .zero

  mutating func take() -> Duration {
    count += 1
    defer { next = next == .zero ? .milliseconds(10) : min(next * 2, .seconds(1)) }
    return next
  }
}

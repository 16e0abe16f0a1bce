import LinuxSystem
import Synchronization
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
  private let state = Mutex(State())

  init(socketPath: SocketPath) {
    self.socketPath = socketPath
  }

  /// One attempt. After a `connection` error the next call opens a new connection.
  func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input
  ) throws(ApplicationError) -> Method.Output {
    let connection = try current()
    do {
      return try connection.call(method, input, timeout: Self.answerTimeout)
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

/// The pauses between attempts: none, then doubling from 10 ms.
struct RetryPauses: Sendable {
  private var next: Duration = .zero
  private let longest: Duration

  /// - Parameter longest: no pause is longer than this.
  init(longest: Duration = .seconds(1)) {
    self.longest = longest
  }

  mutating func take() -> Duration {
    defer { next = next == .zero ? .milliseconds(10) : min(next * 2, longest) }
    return next
  }
}

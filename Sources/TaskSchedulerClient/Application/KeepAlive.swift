import Dispatch
import TaskSchedulerWire

/// The keep-alive handler that the application has set.
struct KeepAlive: Sendable {
  enum Handler: Sendable {
    case onQueue(@Sendable () -> Void)
    case async(@Sendable () async -> Void)
  }

  let timeout: Duration
  let handler: Handler
}

// Keep-alive handlers, for which the daemon resumes a suspended application.
extension ScheduledApplication {
  /// Sets the keep-alive handler, which the daemon calls at least once in each interval.
  ///
  /// The daemon resumes a suspended application for the call. It calls the handlers of all
  /// applications together, as rarely as their intervals allow. A call may come early, and comes
  /// late only if the machine sleeps. The call is over when the handler returns. The daemon kills
  /// an application whose handler takes longer than `KeepAliveHandlerTime`, 30 s by default.
  ///
  /// A second call of this method replaces the interval and the handler. After a restart of the
  /// daemon, the library sets them again. The manifest must declare the background mode `voip`.
  ///
  /// - Parameters:
  ///   - timeout: The interval, from `KeepAliveMinimum`, 600 s by default, to 1,000,000,000 s.
  ///   - handler: A function that keeps the connections of the application alive.
  /// - Throws: ``ApplicationRefusal/modeNotDeclared(_:mode:)``,
  ///   ``ApplicationRefusal/keepAliveTooShort(minimum:)``; an error of the connection if the daemon
  ///   is away for more than 2.3 s. After an error, the previous handler stays set.
  public func setKeepAliveTimeout(
    _ timeout: Duration, handler: @escaping @Sendable () async -> Void
  ) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in
      try self.set(KeepAlive(timeout: timeout, handler: .async(handler)))
    }
  }

  /// Sets the keep-alive handler, which the library calls on ``queue``. Blocks. Otherwise like
  /// ``setKeepAliveTimeout(_:handler:)``.
  public func setKeepAliveTimeoutAndWait(
    _ timeout: Duration, handler: @escaping @Sendable () -> Void
  ) throws(ApplicationError) {
    try set(KeepAlive(timeout: timeout, handler: .onQueue(handler)))
  }

  /// Clears the keep-alive handler. Does nothing if there is none.
  ///
  /// - Throws: An error of the connection if the daemon is away for more than 2.3 s. After an
  ///   error, the handler stays set.
  public func clearKeepAliveTimeout() async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.clearKeepAliveTimeoutAndWait() }
  }

  /// Clears the keep-alive handler. Blocks. Otherwise like ``clearKeepAliveTimeout()``.
  public func clearKeepAliveTimeoutAndWait() throws(ApplicationError) {
    try set(nil)
  }

  private func set(_ keepAlive: KeepAlive?) throws(ApplicationError) {
    try keepAliveTurn.withLock { _ throws(ApplicationError) in
      try throwIfEnded()
      // The library stores the handler before it sends the request, because the daemon may call the
      // handler before the library has read the answer.
      let previous = state.withLock { state in
        defer { state.keepAlive = keepAlive }
        return state.keepAlive
      }
      do throws(ApplicationError) {
        try send(keepAlive)
      } catch {
        state.withLock { $0.keepAlive = previous }
        throw error
      }
    }
  }

  private func send(_ keepAlive: KeepAlive?) throws(ApplicationError) {
    if calls == nil { return }
    _ = try ask(
      ApplicationInterface.SetKeepAliveTimeout.self,
      .init(seconds: keepAlive?.timeout.inSeconds))
  }

  /// Passes the keep-alive handler to the daemon again. Returns false if the daemon does not
  /// answer.
  func restoreKeepAlive() -> Bool {
    keepAliveTurn.withLock { _ in
      guard let keepAlive = state.withLock({ $0.keepAlive }) else { return true }
      do throws(ApplicationError) {
        try send(keepAlive)
      } catch {
        if error.isTransient { return false }
        state.withLock { $0.keepAlive = nil }
        deliver(.didLoseKeepAlive(error))
      }
      return true
    }
  }

  /// Runs the keep-alive handler, and then acknowledges the daemon's callback.
  func callKeepAlive(_ callback: Int) {
    switch state.withLock({ $0.keepAlive?.handler }) {
    case nil:
      queue.async { self.acknowledge(callback) }
    case .onQueue(let handler):
      queue.async {
        handler()
        self.acknowledge(callback)
      }
    case .async(let handler):
      Task {
        await handler()
        DispatchQueue.global().async { self.acknowledge(callback) }
      }
    }
  }
}

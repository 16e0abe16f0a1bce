import Dispatch
import TaskSchedulerWire

/// The keep-alive handler that the author has set.
struct KeepAlive: Sendable {
  enum Handler: Sendable {
    case plain(@Sendable () -> Void)
    case async(@Sendable () async -> Void)
  }

  let timeout: Duration
  let handler: Handler
}

// Keep-alive: to be called now and then although suspended.
extension ScheduledApplication {
  /// Sets the keep-alive handler: it is called at least once before each interval ends, also out of
  /// suspension. Needs the background mode voip in the manifest.
  ///
  /// The daemon calls the handlers of all applications together, as rarely as their intervals
  /// allow: it may come early, and never late. The call is over when the handler returns, for which
  /// it has `KeepAliveHandlerTime` (30 s by default); then the application is killed. Setting it
  /// again replaces interval and handler. Where the daemon has to be told anew, this library does.
  ///
  /// - Parameters:
  ///   - timeout: the interval, at least `KeepAliveMinimum` (600 s by default).
  ///   - handler: called on `queue`.
  /// - Throws: `refused(.modeNotDeclared)`, `refused(.keepAliveTooShort)`; `connection` where the
  ///   daemon is away for longer than some seconds.
  public func setKeepAliveTimeout(
    _ timeout: Duration, handler: @escaping @Sendable () -> Void
  ) throws(ApplicationError) {
    try set(KeepAlive(timeout: timeout, handler: .plain(handler)))
  }

  /// Sets a keep-alive handler that is asynchronous: the call is over when it ends. Otherwise as
  /// the one that is not.
  public func setKeepAliveTimeout(
    _ timeout: Duration, handler: @escaping @Sendable () async -> Void
  ) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in
      try self.set(KeepAlive(timeout: timeout, handler: .async(handler)))
    }
  }

  /// Clears the keep-alive handler: it is called no more. Without one this does nothing.
  public func clearKeepAliveTimeout() throws(ApplicationError) {
    try set(nil)
  }

  private func set(_ keepAlive: KeepAlive?) throws(ApplicationError) {
    try keepAliveTurn.withLock { _ throws(ApplicationError) in
      try throwIfEnded()
      // Known before the daemon knows: the call may come before the answer.
      let previous = ledger.withLock { ledger in
        defer { ledger.keepAlive = keepAlive }
        return ledger.keepAlive
      }
      do throws(ApplicationError) {
        try send(keepAlive)
      } catch {
        ledger.withLock { $0.keepAlive = previous }
        throw error
      }
    }
  }

  private func send(_ keepAlive: KeepAlive?) throws(ApplicationError) {
    if line == nil { return }
    _ = try ask(
      ApplicationInterface.SetKeepAliveTimeout.self, .init(seconds: keepAlive?.timeout.seconds))
  }

  /// A daemon that has forgotten this process has nothing that was to wake it: tells it again, on a
  /// queue of its own.
  func restoreWakeUps() {
    debtQueue.async {
      guard let restoration = self.ledger.withLock({ $0.restoration }) else { return }
      let isRestored = [self.restoreKeepAlive(), self.restoreSockets()]
      if !isRestored.contains(false) { self.ledger.withLock { $0.restored(restoration) } }
    }
  }

  /// To be called before an acknowledgement: it may be followed by suspension.
  func finishRestoring() {
    if ledger.withLock({ $0.restoration }) != nil { debtQueue.sync {} }
  }

  /// - Returns: false where the daemon is away.
  private func restoreKeepAlive() -> Bool {
    keepAliveTurn.withLock { _ in
      guard let keepAlive = ledger.withLock({ $0.keepAlive }) else { return true }
      do throws(ApplicationError) {
        try send(keepAlive)
      } catch {
        if error.isTransient { return false }
        ledger.withLock { $0.keepAlive = nil }
        tell(.didLoseKeepAlive(error))
      }
      return true
    }
  }

  /// The daemon calls.
  func callKeepAlive(_ callback: Int) {
    switch ledger.withLock({ $0.keepAlive?.handler }) {
    case nil:
      queue.async { self.acknowledge(callback) }
    case .plain(let handler):
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

extension Duration {
  /// As a number of seconds.
  fileprivate var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}

import Dispatch

extension ScheduledApplication {
  /// Runs the body within a background task, which is ended on every path: when the body returns,
  /// throws, or is cancelled. At expiration the body's Swift task is cancelled; it then has what is
  /// left of the background time to return, or the application is killed.
  ///
  /// - Parameter name: for people, as in `beginBackgroundTask`.
  /// - Throws: what the body throws, and what `beginBackgroundTask` throws: then the body has not
  ///   run.
  public func withBackgroundTask<Result: Sendable>(
    named name: String? = nil, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let cancellation = Cancellation()
    let id = try await blocking { () throws(ApplicationError) in
      try self.beginBackgroundTask(named: name) { cancellation.cancel() }
    }
    let task = Task { try await body() }
    cancellation.attach(task.cancel)
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      cancellation.cancel()
    }
    // It throws only where a daemon that came back knew the task no longer: that was reported.
    try? await blocking { () throws(ApplicationError) in try self.endBackgroundTask(id) }
    return try result.get()
  }

  /// Does what waits for the daemon away from the threads of Swift's concurrency, which must not
  /// block. It is done also where the calling task is cancelled.
  func blocking<Value: Sendable>(
    _ body: @escaping @Sendable () throws(ApplicationError) -> Value
  ) async throws(ApplicationError) -> Value {
    let result = await withCheckedContinuation { continuation in
      DispatchQueue.global().async {
        continuation.resume(returning: Result { () throws(ApplicationError) in try body() })
      }
    }
    return try result.get()
  }
}

/// Cancels a task that may not be there yet.
private final class Cancellation: Sendable {
  private enum State {
    case open
    case attached(@Sendable () -> Void)
    case cancelled
  }

  private let state = Locked(State.open)

  func attach(_ cancel: @escaping @Sendable () -> Void) {
    let isLate = state.withLock { state in
      switch state {
      case .open, .attached:
        state = .attached(cancel)
        return false
      case .cancelled: return true
      }
    }
    if isLate { cancel() }
  }

  func cancel() {
    let cancel = state.withLock { state -> (@Sendable () -> Void)? in
      defer { state = .cancelled }
      switch state {
      case .open, .cancelled: return nil
      case .attached(let cancel): return cancel
      }
    }
    cancel?()
  }
}

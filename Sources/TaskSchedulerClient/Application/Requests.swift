import Dispatch
import LinuxSystem
import TaskSchedulerWire

// Requests to the daemon. The library repeats a request while the daemon does not answer.
extension ScheduledApplication {
  /// Sends a request, and repeats it while the daemon does not answer. Use this only for idempotent
  /// requests, because the daemon may carry out a request whose answer is lost.
  func ask<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, fileDescriptors: [Int32] = []
  ) throws(ApplicationError) -> Method.Output {
    try retrying { () throws(ApplicationError) in
      guard let calls = self.calls else { preconditionFailure("a request without a daemon") }
      return try calls.call(method, input, fileDescriptors: fileDescriptors)
    }
  }

  /// Repeats an attempt until it succeeds, the daemon refuses it, or ``RetryDelays/requestMax``
  /// pauses have passed.
  func retrying<Value>(
    _ attempt: () throws(ApplicationError) -> Value
  ) throws(ApplicationError) -> Value {
    var delays = RetryDelays()
    while true {
      do throws(ApplicationError) {
        try throwIfEnded()
        return try attempt()
      } catch {
        guard mayTryAgain(after: error), pause(&delays) else { throw error }
      }
    }
  }

  func mayTryAgain(after error: ApplicationError) -> Bool {
    // The daemon suspended the process while the call was in transit. The process runs again, so
    // another attempt can succeed.
    if case .refused(.invalidState(_, .suspended)) = error { return true }
    return error.isTransient
  }

  func throwIfEnded() throws(ApplicationError) {
    if let end = state.withLock({ $0.end }) { throw end }
  }

  /// Waits before the next attempt of a request. Returns false if the request has failed: after the
  /// last attempt, or if the application is closed.
  func pause(_ delays: inout RetryDelays) -> Bool {
    delays.count < RetryDelays.requestMax && !isClosed(within: delays.take())
  }

  /// Waits until the application is closed, or the timeout has passed. Returns whether the
  /// application is closed.
  func isClosed(within timeout: Duration) -> Bool {
    do throws(SystemError) {
      return try Readiness.wait(for: 1, on: closeEvent.rawValue, timeout: timeout) != 0
    } catch {
      preconditionFailure("poll(2) on an eventfd failed: \(error)")
    }
  }
}

/// Runs a blocking body away from the threads of Swift concurrency, which must not block. The body
/// runs even if the calling task is cancelled.
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

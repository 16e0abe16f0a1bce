import LinuxSystem
import TaskSchedulerWire

// Background tasks.
extension ScheduledApplication {
  /// Begins a background task.
  ///
  /// The application may run in the background until all its tasks have ended, or until
  /// `BackgroundTime`, 600 s by default, is over. An application may begin a task in any state;
  /// begin it before the work starts. Balance each call with one ``endBackgroundTask(_:)``. The
  /// daemon kills an application that still has an outstanding task when the time is over.
  ///
  /// - Parameters:
  ///   - name: A name for operators and the log: 256 bytes at most, without control characters.
  ///   - expirationHandler: A function that stops the work and ends the task. The library calls it
  ///     on ``queue``, `ExpirationLead` (5 s by default) before the background time is over. It
  ///     calls the handler once in each stay in the background.
  /// - Throws: ``ApplicationRefusal/quotaExceeded(quota:limit:)`` if the application already has
  ///   `MaxTasksPerApplication` (1024 by default) outstanding tasks, or its user has
  ///   `MaxTasksPerUser` (16384 by default); ``ApplicationRefusal/invalidParameter(_:)`` for the
  ///   name; an error of the connection if the daemon is away for more than 2.3 s.
  public func beginBackgroundTask(
    named name: String? = nil, expirationHandler: (@Sendable () -> Void)? = nil
  ) async throws(ApplicationError) -> BackgroundTaskID {
    try await blocking { () throws(ApplicationError) in
      try self.beginBackgroundTaskAndWait(named: name, expirationHandler: expirationHandler)
    }
  }

  /// Begins a background task. Blocks until the daemon has granted it. Otherwise like
  /// ``beginBackgroundTask(named:expirationHandler:)``.
  public func beginBackgroundTaskAndWait(
    named name: String? = nil, expirationHandler: (@Sendable () -> Void)? = nil
  ) throws(ApplicationError) -> BackgroundTaskID {
    guard let calls else {
      try throwIfEnded()
      return BackgroundTaskID(state.withLock { $0.beginUnmanaged() })
    }
    let startUSec = Int(BootClock.now() / 1_000)
    state.withLock { $0.willBegin() }
    var delays = RetryDelays()
    var isFirst = true
    while true {
      do throws(ApplicationError) {
        try throwIfEnded()
        let task = try begin(named: name, from: startUSec, isFirst: isFirst, calls)
        call(state.withLock { $0.began(task.id, expired: task.expired, expirationHandler) })
        return BackgroundTaskID(task.id)
      } catch {
        isFirst = false
        if mayTryAgain(after: error), pause(&delays) { continue }
        state.withLock { $0.beginEnded() }
        throw error
      }
    }
  }

  /// Attempts to begin a task. A repeated attempt first searches for the task of the earlier
  /// attempt, because the daemon may have begun that task although the answer was lost.
  private func begin(
    named name: String?, from startUSec: Int, isFirst: Bool, _ calls: CallConnection
  ) throws(ApplicationError) -> (id: Int, expired: Bool) {
    if !isFirst, let task = try findTask(named: name, begunFrom: startUSec, calls) { return task }
    let answer = try calls.call(
      ApplicationInterface.BeginBackgroundTask.self, .init(name: name))
    return (answer.task, false)
  }

  /// Returns a task of this name that the daemon has begun since `startUSec` and that this process
  /// does not know; nil if there is none.
  private func findTask(
    named name: String?, begunFrom startUSec: Int, _ calls: CallConnection
  ) throws(ApplicationError) -> (id: Int, expired: Bool)? {
    let status = try calls.call(ApplicationInterface.GetStatus.self, .init())
    let known = state.withLock { state in
      Set(status.tasks.map(\.id).filter { state.knows($0) })
    }
    let task = status.tasks.first {
      $0.name == name && $0.beganAtUSec >= startUSec && !known.contains($0.id)
    }
    return task.map { ($0.id, $0.expired) }
  }

  /// Ends a background task.
  ///
  /// When an application in the background ends its last task, the daemon suspends the application.
  /// The suspension can come before the method returns; the method then returns after the daemon
  /// has resumed the application. If the daemon does not answer, the library reports the end later;
  /// this is not an error.
  ///
  /// - Throws: ``ApplicationRefusal/unknownTask(_:)`` if the task has ended or a restarted daemon
  ///   does not know it.
  public func endBackgroundTask(_ task: BackgroundTaskID) async throws(ApplicationError) {
    try await blocking { () throws(ApplicationError) in try self.endBackgroundTaskAndWait(task) }
  }

  /// Ends a background task. Blocks; otherwise like ``endBackgroundTask(_:)``.
  public func endBackgroundTaskAndWait(_ task: BackgroundTaskID) throws(ApplicationError) {
    let isKnown = state.withLock { state in
      guard state.end(task.rawValue) else { return false }
      if calls != nil { state.willReport(end: task.rawValue) }
      return true
    }
    guard isKnown else { throw .refused(.unknownTask(task)) }
    if calls != nil, !report(end: task.rawValue) { reportLater() }
  }

  // MARK: - Scopes

  /// Runs a body within a background task, which ends when the body returns or throws.
  ///
  /// The library cancels the Swift task that runs the body if the background task expires, or if
  /// the calling Swift task is cancelled. After an expiration, the daemon kills the application if
  /// the body does not return within `ExpirationLead`, 5 s by default.
  ///
  /// - Parameters:
  ///   - name: A name for operators and the log, as in
  ///     ``beginBackgroundTask(named:expirationHandler:)``.
  ///   - body: The work.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body; or the error of
  ///   ``beginBackgroundTask(named:expirationHandler:)``, if the body could not run.
  public func withBackgroundTask<Result: Sendable>(
    named name: String? = nil, _ body: @escaping @Sendable () async throws -> Result
  ) async throws -> Result {
    let cancellation = Cancellation()
    let id = try await beginBackgroundTask(named: name) { cancellation.cancel() }
    let task = Task { try await body() }
    cancellation.attach(task.cancel)
    let result = await withTaskCancellationHandler {
      await task.result
    } onCancel: {
      cancellation.cancel()
    }
    // This throws only if a restarted daemon does not know the task. In this case, the application
    // has received `didLoseBackgroundTasks`.
    try? await endBackgroundTask(id)
    return try result.get()
  }

  /// Runs a body within a background task, which ends when the body returns or throws. Blocks.
  ///
  /// - Parameters:
  ///   - name: A name for operators and the log, as in
  ///     ``beginBackgroundTask(named:expirationHandler:)``.
  ///   - expirationHandler: A function that makes the body return. The library calls it on
  ///     ``queue``, `ExpirationLead` (5 s by default) before the background time is over.
  ///   - body: The work, on the calling thread.
  /// - Returns: The result of the body.
  /// - Throws: The error of the body; or the error of
  ///   ``beginBackgroundTask(named:expirationHandler:)``, if the body could not run.
  public func withBackgroundTaskAndWait<Result>(
    named name: String? = nil, expirationHandler: @escaping @Sendable () -> Void,
    _ body: () throws -> Result
  ) throws -> Result {
    let id = try beginBackgroundTaskAndWait(named: name, expirationHandler: expirationHandler)
    // This throws only if a restarted daemon does not know the task. In this case, the application
    // has received `didLoseBackgroundTasks`.
    defer { try? endBackgroundTaskAndWait(id) }
    return try body()
  }
}

/// Cancels a Swift task that may not exist yet.
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

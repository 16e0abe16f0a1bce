public import ServiceLifecycle
public import TaskSchedulerClient

extension ServiceGroup {
  /// Runs the services of the group as an application.
  ///
  ///     let application = try await ScheduledApplication.register("org.example.mail")
  ///     let group = ServiceGroup(services: [server, outbox], logger: logger)
  ///     try await group.run(as: application) { event in
  ///       if event == .didEnterBackground { await save() }
  ///     }
  ///
  /// The event `willTerminate` begins a graceful shutdown of the group. The daemon ends the process
  /// when all services have shut down, or after `CallbackTimeout`, 6 s by default. Set
  /// `maximumGracefulShutdownDuration` of the group to less than `CallbackTimeout`.
  ///
  /// The group also shuts down gracefully if the daemon permanently refuses the process.
  ///
  /// - Parameters:
  ///   - application: An application that was registered without a delegate.
  ///   - handler: A function that handles an event. When the function returns, this method
  ///     acknowledges the event. It acknowledges `willTerminate` only when the group has shut down.
  /// - Throws: The error of the group; or the ``ApplicationError`` with which the daemon refused
  ///   the process.
  public nonisolated func run(
    as application: ScheduledApplication,
    onEvent handler: @escaping @Sendable (ApplicationEvent) async -> Void = { _ in }
  ) async throws {
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      tasks.addTask {
        do {
          for try await event in application.events {
            await handler(event)
            if event == .willTerminate { await self.shutDown() }
          }
        } catch {
          await self.triggerGracefulShutdown()
          throw error
        }
      }
      try await self.run()
      tasks.cancelAll()
      try await tasks.waitForAll()
    }
  }

  /// Begins the shutdown. Returns when `run` cancels the task, after the shutdown is complete.
  ///
  /// If this function returned earlier, the loop over the events would acknowledge `willTerminate`,
  /// and the daemon would kill services that have not shut down yet.
  private nonisolated func shutDown() async {
    await triggerGracefulShutdown()
    let (stream, continuation) = AsyncStream.makeStream(of: Never.self)
    for await _ in stream {}
    continuation.finish()
  }
}

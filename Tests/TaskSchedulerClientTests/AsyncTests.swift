import Dispatch
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct AsyncTests {
  private struct Broken: Error {}

  private func tasks(_ fixture: Fixture) -> [String?] {
    fixture.daemon.state.current.memory.tasks.map(\.name)
  }

  @Test("withBackgroundTask holds a task while the body runs, and ends it when the body returns")
  func returns() async throws {
    let fixture = try Fixture()
    let daemon = fixture.daemon
    let during = try await fixture.application.withBackgroundTask(named: "upload") {
      daemon.state.current.memory.tasks.map(\.name)
    }
    #expect(during == ["upload"])
    #expect(tasks(fixture) == [])
  }

  @Test("withBackgroundTask ends its task when the body throws, and throws the same error")
  func bodyThrows() async throws {
    let fixture = try Fixture()
    await #expect(throws: Broken.self) {
      try await fixture.application.withBackgroundTask { throw Broken() }
    }
    #expect(tasks(fixture) == [])
  }

  @Test("withBackgroundTask ends its task when the Swift task is cancelled")
  func cancelled() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    let started = Watched(false)
    let task = Task {
      try await application.withBackgroundTask {
        started.update { $0 = true }
        try await cancellation()
      }
    }
    try await started.waitAsync("the body runs") { $0 }
    task.cancel()
    await #expect(throws: CancellationError.self) { try await task.value }
    #expect(tasks(fixture) == [])
  }

  @Test("withBackgroundTask cancels the body at expiration, and ends its task")
  func expires() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    let daemon = fixture.daemon
    let caller = Task {
      try await application.withBackgroundTask(named: "upload") {
        daemon.expire(1)
        try await cancellation()
      }
    }
    await #expect(throws: CancellationError.self) { try await caller.value }
    #expect(!caller.isCancelled)
    #expect(tasks(fixture) == [])
  }

  @Test("If the task is refused, withBackgroundTask throws the refusal and does not run the body")
  func refused() async throws {
    let fixture = try Fixture()
    let refusal = ApplicationInterface.Failure.quotaExceeded(
      quota: "MaxTasksPerApplication", limit: 1024)
    fixture.daemon.refuseNext("BeginBackgroundTask", with: refusal)
    let ran = Watched(false)
    await #expect(throws: ApplicationError.refused(
        .quotaExceeded(quota: "MaxTasksPerApplication", limit: 1024))) {
      try await fixture.application.withBackgroundTask { ran.update { $0 = true } }
    }
    #expect(!ran.current)
  }

  @Test(
    "In a cancelled Swift task, withBackgroundTask runs the body as cancelled, and ends its task")
  func cancelledBefore() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    let task = Task {
      try? await cancellation()
      return try await application.withBackgroundTask { Task.isCancelled }
    }
    task.cancel()
    #expect(try await task.value)
    #expect(tasks(fixture) == [])
  }

  @Test("Concurrent calls of withBackgroundTask each have their own task, and all end")
  func manyAtOnce() async throws {
    let fixture = try Fixture()
    let application = fixture.application
    let sum = try await withThrowingTaskGroup(of: Int.self) { group in
      for number in 0..<32 {
        group.addTask { try await application.withBackgroundTask { number } }
      }
      return try await group.reduce(0, +)
    }
    #expect(sum == 31 * 32 / 2)
    #expect(tasks(fixture) == [])
    #expect(fixture.daemon.state.current.memory.taskLast == 32)
  }
}

/// Waits until the task is cancelled, and throws `CancellationError`.
private func cancellation() async throws {
  let (stream, continuation) = AsyncStream.makeStream(of: Void.self)
  for await _ in stream {}
  continuation.finish()
  try Task.checkCancellation()
}

import Dispatch
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct BackgroundTaskTests {
  @Test("A task has a name and ends once; a second end throws unknownTask")
  func beginAndEnd() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTaskAndWait(named: "upload")
    #expect(fixture.daemon.state.current.memory.tasks.map(\.name) == ["upload"])
    try fixture.application.endBackgroundTaskAndWait(task)
    #expect(fixture.daemon.state.current.memory.tasks == [])
    #expect(throws: ApplicationError.refused(.unknownTask(task))) {
      try fixture.application.endBackgroundTaskAndWait(task)
    }
    #expect(try fixture.daemon.waitForCall("EndBackgroundTask \(task)") == 1)
  }

  @Test("A begin beyond the quota throws the refusal, and a later begin is granted")
  func quota() throws {
    let fixture = try Fixture()
    let refusal = ApplicationInterface.Failure.quotaExceeded(
      quota: "MaxTasksPerApplication", limit: 1024)
    fixture.daemon.refuseNext("BeginBackgroundTask", with: refusal)
    #expect(throws: ApplicationError.refused(
        .quotaExceeded(quota: "MaxTasksPerApplication", limit: 1024))) {
      _ = try fixture.application.beginBackgroundTaskAndWait()
    }
    _ = try fixture.application.beginBackgroundTaskAndWait()
  }

  @Test("The error for a refused name is an invalid parameter with a sentence")
  func invalidName() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "BeginBackgroundTask", with: StandardFailure.invalidParameter(parameter: "name"))
    let error = #expect(throws: ApplicationError.self) {
      _ = try fixture.application.beginBackgroundTaskAndWait(named: "\n")
    }
    #expect(error?.description == "taskschedd does not accept this name")
  }

  @Test("The library repeats a begin that arrived while the process was suspended")
  func beginWhileSuspended() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "BeginBackgroundTask",
      with: ApplicationInterface.Failure.invalidState(
        application: "org.example.test", state: .suspended))
    let task = try fixture.application.beginBackgroundTaskAndWait(named: "late")
    #expect(task.rawValue == 1)
    #expect(try fixture.daemon.waitForCall("BeginBackgroundTask late", count: 2) == 2)
  }

  @Test("The remaining background time is nil in the foreground, and otherwise the daemon's")
  func timeRemaining() throws {
    let fixture = try Fixture()
    #expect(try fixture.application.backgroundTimeRemainingAndWait() == nil)
    fixture.daemon.state.update { $0.memory.remainingUSec = 599_500_000 }
    #expect(try fixture.application.backgroundTimeRemainingAndWait() == .milliseconds(599_500))
  }

  @Test("The library calls the expiration handler of each task once, in order")
  func expirationOrder() throws {
    let fixture = try Fixture()
    let order = Watched<[Int]>([])
    let tasks = try (0..<3).map { number in
      try fixture.application.beginBackgroundTaskAndWait { order.update { $0.append(number) } }
    }
    for task in tasks + tasks { fixture.daemon.expire(task.rawValue) }
    fixture.daemon.send(.willResignActive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(order.current == [0, 1, 2])
  }

  @Test(
    """
    §4: If a task continues into a later stint, the library calls its expiration handler once in \
    that stint, too
    """)
  func laterStint() throws {
    let fixture = try Fixture()
    let expired = Watched(0)
    let task = try fixture.application.beginBackgroundTaskAndWait { expired.update { $0 += 1 } }
    for stint in 1...3 {
      for _ in 0..<2 { fixture.daemon.expire(task.rawValue) }
      fixture.daemon.send(.willEnterForeground)
      try fixture.daemon.waitForAcknowledgement()
      #expect(expired.current == stint)
    }
  }

  @Test("An expiration that arrives before the answer to the begin calls the handler")
  func earlyExpiration() throws {
    let fixture = try Fixture()
    fixture.daemon.state.update { $0.expiresEarly = true }
    let expired = Watched(0)
    _ = try fixture.application.beginBackgroundTaskAndWait { expired.update { $0 += 1 } }
    try expired.wait("the handler is called") { $0 == 1 }
  }

  @Test("The expiration of a task that has ended calls nothing")
  func expirationAfterEnd() throws {
    let fixture = try Fixture()
    let expired = Watched(0)
    let task = try fixture.application.beginBackgroundTaskAndWait { expired.update { $0 += 1 } }
    try fixture.application.endBackgroundTaskAndWait(task)
    fixture.daemon.expire(task.rawValue)
    fixture.daemon.send(.willResignActive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(expired.current == 0)
  }

  @Test("If the answer to a begin is lost, the library finds the task, and begins no second task")
  func lostAnswer() throws {
    let fixture = try Fixture()
    fixture.daemon.state.update { $0.closesAfter = "BeginBackgroundTask" }
    let task = try fixture.application.beginBackgroundTaskAndWait(named: "upload")
    #expect(fixture.daemon.state.current.memory.tasks.map(\.id) == [task.rawValue])
    #expect(try fixture.daemon.waitForCall("BeginBackgroundTask upload") == 1)
  }

  @Test("If the answer to an end is lost, the library repeats the end, and ignores an unknown task")
  func lostEnd() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTaskAndWait()
    fixture.daemon.state.update { $0.closesAfter = "EndBackgroundTask" }
    try fixture.application.endBackgroundTaskAndWait(task)
    #expect(fixture.daemon.state.current.memory.tasks == [])
  }

  @Test("After the connection for calls breaks, the next call opens a new one, but no new stream")
  func reopensCalls() throws {
    let fixture = try Fixture()
    _ = try fixture.application.beginBackgroundTaskAndWait()
    fixture.daemon.breakCalls()
    try fixture.daemon.state.wait("only the stream is left") { $0.connections.count == 1 }
    _ = try fixture.application.beginBackgroundTaskAndWait()
    #expect(try fixture.daemon.waitForCall("Register org.example.test") == 1)
  }

  @Test("Tasks that several threads begin and end at once have different ids, and all end")
  func severalThreads() throws {
    let fixture = try Fixture()
    let application = fixture.application
    let ids = Watched<[BackgroundTaskID]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<25 {
        guard let task = try? application.beginBackgroundTaskAndWait(expirationHandler: {})
        else { return }
        ids.update { $0.append(task) }
        try? application.endBackgroundTaskAndWait(task)
      }
    }
    #expect(Set(ids.current).count == 200)
    #expect(fixture.daemon.state.current.memory.tasks == [])
  }
}

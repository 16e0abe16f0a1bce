import Dispatch
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerClient

@Suite struct BackgroundTaskTests {
  @Test("A task is begun by name and ended once; a second end is unknownTask")
  func beginAndEnd() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTask(named: "upload")
    #expect(fixture.daemon.state.current.memory.tasks.map(\.name) == ["upload"])
    try fixture.application.endBackgroundTask(task)
    #expect(fixture.daemon.state.current.memory.tasks == [])
    #expect(throws: ApplicationError.refused(.unknownTask(task: task.rawValue))) {
      try fixture.application.endBackgroundTask(task)
    }
    #expect(try fixture.daemon.waitForCall("EndBackgroundTask \(task)") == 1)
  }

  @Test("The quota's refusal is thrown, and the next begin is granted")
  func quota() throws {
    let fixture = try Fixture()
    let refusal = ApplicationInterface.Failure.quotaExceeded(
      quota: "MaxTasksPerApplication", limit: 1024)
    fixture.daemon.refuseNext("BeginBackgroundTask", with: refusal)
    #expect(throws: ApplicationError.refused(refusal)) {
      _ = try fixture.application.beginBackgroundTask()
    }
    _ = try fixture.application.beginBackgroundTask()
  }

  @Test("A name that the daemon does not take is an invalid parameter, in a sentence")
  func invalidName() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "BeginBackgroundTask", with: StandardFailure.invalidParameter(parameter: "name"))
    let error = #expect(throws: ApplicationError.self) {
      _ = try fixture.application.beginBackgroundTask(named: "\n")
    }
    #expect(error?.description == "taskschedd does not take this name")
  }

  @Test("A begin that arrived as the process was suspended is made again when it runs again")
  func beginWhileSuspended() throws {
    let fixture = try Fixture()
    fixture.daemon.refuseNext(
      "BeginBackgroundTask",
      with: ApplicationInterface.Failure.invalidState(
        application: "org.example.test", state: .suspended))
    let task = try fixture.application.beginBackgroundTask(named: "late")
    #expect(task.rawValue == 1)
    #expect(try fixture.daemon.waitForCall("BeginBackgroundTask late", count: 2) == 2)
  }

  @Test("backgroundTimeRemaining is nil in the foreground, else what the daemon says")
  func timeRemaining() throws {
    let fixture = try Fixture()
    #expect(try fixture.application.backgroundTimeRemaining == nil)
    fixture.daemon.state.update { $0.memory.remainingUSec = 599_500_000 }
    #expect(try fixture.application.backgroundTimeRemaining == .milliseconds(599_500))
  }

  @Test("Expiration calls each task's handler once, in the order of the expirations")
  func expirationOrder() throws {
    let fixture = try Fixture()
    let order = Watched<[Int]>([])
    let tasks = try (0..<3).map { number in
      try fixture.application.beginBackgroundTask { order.update { $0.append(number) } }
    }
    for task in tasks + tasks { fixture.daemon.expire(task.rawValue) }
    fixture.daemon.send(.willResignActive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(order.current == [0, 1, 2])
  }

  @Test(
    """
    §4: The expiration handler of a task that is carried over into a later stint is called there \
    again, once
    """)
  func laterStint() throws {
    let fixture = try Fixture()
    let expired = Watched(0)
    let task = try fixture.application.beginBackgroundTask { expired.update { $0 += 1 } }
    for stint in 1...3 {
      for _ in 0..<2 { fixture.daemon.expire(task.rawValue) }
      fixture.daemon.send(.willEnterForeground)
      try fixture.daemon.waitForAcknowledgement()
      #expect(expired.current == stint)
    }
  }

  @Test("An expiration that overtakes the begin's answer calls the handler all the same")
  func earlyExpiration() throws {
    let fixture = try Fixture()
    fixture.daemon.state.update { $0.expiresEarly = true }
    let expired = Watched(0)
    _ = try fixture.application.beginBackgroundTask { expired.update { $0 += 1 } }
    try expired.wait("the handler is called") { $0 == 1 }
  }

  @Test("The expiration of a task that has ended calls nothing")
  func expirationAfterEnd() throws {
    let fixture = try Fixture()
    let expired = Watched(0)
    let task = try fixture.application.beginBackgroundTask { expired.update { $0 += 1 } }
    try fixture.application.endBackgroundTask(task)
    fixture.daemon.expire(task.rawValue)
    fixture.daemon.send(.willResignActive)
    try fixture.daemon.waitForAcknowledgement()
    #expect(expired.current == 0)
  }

  @Test("A begin whose answer was lost with its connection is found, not begun twice")
  func lostAnswer() throws {
    let fixture = try Fixture()
    fixture.daemon.state.update { $0.closesAfter = "BeginBackgroundTask" }
    let task = try fixture.application.beginBackgroundTask(named: "upload")
    #expect(fixture.daemon.state.current.memory.tasks.map(\.id) == [task.rawValue])
    #expect(try fixture.daemon.waitForCall("BeginBackgroundTask upload") == 1)
  }

  @Test("An end whose answer was lost is made again, and that it is unknown then is no error")
  func lostEnd() throws {
    let fixture = try Fixture()
    let task = try fixture.application.beginBackgroundTask()
    fixture.daemon.state.update { $0.closesAfter = "EndBackgroundTask" }
    try fixture.application.endBackgroundTask(task)
    #expect(fixture.daemon.state.current.memory.tasks == [])
  }

  @Test("When the connection for calls breaks, the next call opens another; the stream stays")
  func reopensCalls() throws {
    let fixture = try Fixture()
    _ = try fixture.application.beginBackgroundTask()
    fixture.daemon.breakCalls()
    try fixture.daemon.state.wait("only the stream is left") { $0.connections.count == 1 }
    _ = try fixture.application.beginBackgroundTask()
    #expect(try fixture.daemon.waitForCall("Register org.example.test") == 1)
  }

  @Test("Several threads begin and end at once: each id is another, and none is left")
  func severalThreads() throws {
    let fixture = try Fixture()
    let application = fixture.application
    let ids = Watched<[BackgroundTaskID]>([])
    DispatchQueue.concurrentPerform(iterations: 8) { _ in
      for _ in 0..<25 {
        guard let task = try? application.beginBackgroundTask(expirationHandler: {}) else { return }
        ids.update { $0.append(task) }
        try? application.endBackgroundTask(task)
      }
    }
    #expect(Set(ids.current).count == 200)
    #expect(fixture.daemon.state.current.memory.tasks == [])
  }
}

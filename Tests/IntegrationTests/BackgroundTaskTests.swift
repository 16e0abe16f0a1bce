import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §4 and §5, with real processes.
@Suite("§4, §5: Background tasks, and other entitlements to run in the background")
struct BackgroundTaskTests {
  private let id = "org.test.mail"
  private static let short = DaemonFixture.Settings(
    policy: [("BackgroundTime", "600ms"), ("ExpirationLead", "300ms")])

  /// Returns an application in the foreground that has received its first two callbacks.
  private func active(_ daemon: DaemonFixture) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    return application
  }

  private func remaining(_ answer: JSONValue) -> Int? {
    guard case .integer(let time)? = answer["parameters"]?["backgroundTimeRemainingUSec"] else {
      return nil
    }
    return Int(time)
  }

  @Test(
    """
    BeginBackgroundTask returns an id that is unique for the instance's life and never 0, and the \
    time that remains: unlimited in the foreground; in the background, the rest of BackgroundTime \
    since the stint began. A task that begins late does not restart it
    """)
  func begin() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    let first = try application.call("BeginBackgroundTask", ["name": "upload"])
    #expect(remaining(first) == nil)
    #expect(first["parameters"]?["task"] != 0)
    try daemon.sendToBackground(id)
    _ = try application.callbackKinds(2)
    let second = try application.call("BeginBackgroundTask")
    #expect(first["parameters"]?["task"] != second["parameters"]?["task"])
    let early = try #require(remaining(second))
    #expect(early <= 600_000_000)
    try beBusy(milliseconds: 20)
    let late = try #require(remaining(try application.call("BeginBackgroundTask")))
    #expect(late <= early - 20_000)
    let status = try daemon.application(id)
    #expect(status.instance?.tasks.map(\.name) == ["upload", nil, nil])
    #expect(status.instance?.entitlements == [.backgroundTask])
  }

  @Test(
    """
    A background task that continues into a later stint expires again in that stint before the \
    application is killed for the task
    """)
  func laterStint() throws {
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "6s"), ("ExpirationLead", "5500ms")]))
    let application = try active(daemon)
    let task = try application.begin()
    for _ in 0..<2 {
      try daemon.sendToBackground(id)
      #expect(try application.callbackKinds(2) == ["willResignActive", "didEnterBackground"])
      #expect(try application.nextExpiration() == task)
      try daemon.activate(id)
      #expect(try application.callbackKinds(2) == ["willEnterForeground", "didBecomeActive"])
    }
    #expect(try daemon.application(id).instance?.tasks.first?.expired == false)
  }

  @Test(
    """
    ExpirationLead before the limit, the expiration handler of each outstanding task is called \
    once, in the order of the tasks. If a task is outstanding at the limit, the application and \
    its children are killed, reason backgroundTimeExpired
    """)
  func expires() throws {
    let daemon = try DaemonFixture(Self.short)
    let monitor = try Monitor(daemon)
    let application = try active(daemon)
    _ = try application.callFromChild("GetStatus")
    let child = try unwrap(try PIDFD.open(application.nextChild()))
    let tasks = try ["a", "b", "c"].map { try application.begin($0) }
    let away = BootClock.now()
    try daemon.sendToBackground(id)
    _ = try application.callbackKinds(2)
    #expect(try (0..<3).map { _ in try application.nextExpiration() } == tasks)
    #expect(BootClock.now() - away >= 300_000_000)
    #expect(try monitor.end(id) == "backgroundTimeExpired")
    #expect(BootClock.now() - away >= 600_000_000)
    #expect(try application.process.readLine() == nil, "each handler was called once")
    #expect(try application.process.waitForExit() == .signaled(signal: SIGKILL))
    #expect(try child.waitForEnd(timeout: deadline))
  }

  @Test("An application that ends its task after the expiration is suspended, and not killed")
  func warned() throws {
    // The application has 1.5 s to acknowledge didEnterBackground before the expiration, and then
    // 4.5 s to end its task.
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "6s"), ("ExpirationLead", "4500ms")]))
    let monitor = try Monitor(daemon)
    let application = try active(daemon)
    let task = try application.begin()
    try daemon.sendToBackground(id)
    _ = try application.callbackKinds(2)
    #expect(try application.nextExpiration() == task)
    try application.send("EndBackgroundTask", ["task": .integer(Int64(task))])
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: application.pid) == .stopped)
    try daemon.activate(id)
    #expect(try application.nextAnswer().errorName == nil)
    #expect(try application.callbackKinds(2) == ["willEnterForeground", "didBecomeActive"])
  }

  @Test(
    """
    §15: An application that has ended its task before the limit is not killed at the limit, \
    even if the daemon had not read the call: the daemon first reads the socket's pending calls
    """)
  func endedUnheard() throws {
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "2s"), ("ExpirationLead", "1900ms")]))
    let monitor = try Monitor(daemon)
    let application = try active(daemon)
    let tasks = try (0..<6).map { _ in try application.begin() }
    let away = BootClock.now()
    try daemon.sendToBackground(id)
    for _ in tasks { while try application.nextEvent()["parameters"]?["expiration"] == nil {} }
    _ = try daemon.process.send(signal: SIGSTOP)
    // Each call uses its own connection.
    for task in tasks {
      try application.writeFromChild("EndBackgroundTask", ["task": .integer(Int64(task))])
    }
    try #require(BootClock.now() - away < 2_000_000_000, "written in time")
    while BootClock.now() - away < 2_100_000_000 { try beBusy(milliseconds: 20) }
    _ = try daemon.process.send(signal: SIGCONT)
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: application.pid) == .stopped)
  }

  @Test(
    """
    §15: An application that has ended its task before the limit is not killed at the limit, \
    even if the call is behind many other calls in the socket
    """)
  func endedBehindOthers() throws {
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "2s"), ("ExpirationLead", "1900ms")]))
    let monitor = try Monitor(daemon)
    let application = try active(daemon)
    let task = try application.begin()
    let away = BootClock.now()
    try daemon.sendToBackground(id)
    _ = try application.callbackKinds(2)
    #expect(try application.nextExpiration() == task)
    _ = try daemon.process.send(signal: SIGSTOP)
    try application.write("EndBackgroundTask", ["task": .integer(Int64(task))], behind: 60)
    try #require(BootClock.now() - away < 2_000_000_000, "written in time")
    while BootClock.now() - away < 2_100_000_000 { try beBusy(milliseconds: 20) }
    _ = try daemon.process.send(signal: SIGCONT)
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: application.pid) == .stopped)
  }

  @Test(
    """
    Each begin of a task needs one end. The end of an unknown or ended id is an error without \
    other effects. The end of the last task suspends an application without another entitlement
    """)
  func ends() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try active(daemon)
    let tasks = try [application.begin(), application.begin()]
    try daemon.sendToBackground(id)
    _ = try application.callbackKinds(2)
    for unknown in [0, -1, tasks[1] + 1, Int.max] {
      #expect(try application.end(unknown).errorName == "UnknownTask")
    }
    #expect(try application.end(tasks[0]).errorName == nil)
    #expect(try application.end(tasks[0]).errorName == "UnknownTask")
    #expect(try daemon.application(id).state == .background)
    #expect(try daemon.application(id).instance?.tasks.map(\.id) == [tasks[1]])
    try application.send("EndBackgroundTask", ["task": .integer(Int64(tasks[1]))])
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: application.pid) == .stopped)
  }

  @Test("An application cannot end the task of another application, which continues")
  func othersTask() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    let other = try TestApplication(daemon, "org.test.other", "background")
    try other.registered()
    let task = try application.begin()
    _ = try application.begin()
    let second = try TestApplication(daemon, "org.test.second")
    try second.registered()
    #expect(try second.end(task).errorName == "UnknownTask")
    #expect(try daemon.application(id).instance?.tasks.count == 2)
  }

  @Test("An application may have up to MaxTasksPerApplication tasks")
  func quota() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxTasksPerApplication", "3")]))
    let application = try active(daemon)
    let tasks = try (0..<3).map { _ in try application.begin() }
    let refused = try application.call("BeginBackgroundTask")
    #expect(refused.errorName == "QuotaExceeded")
    #expect(refused["parameters"]?["quota"] == "MaxTasksPerApplication")
    #expect(refused["parameters"]?["limit"] == 3)
    #expect(try daemon.application(id).instance?.tasks.map(\.id) == tasks)
    #expect(try application.end(tasks[1]).errorName == nil)
    #expect(try application.begin() > tasks[2])
  }

  @Test("A task that begins directly after the last one ended is granted, and the application runs")
  func endThenBegin() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    var task = try application.begin()
    try daemon.sendToBackground(id)
    _ = try application.callbackKinds(2)
    let names = ["EndBackgroundTask", "BeginBackgroundTask"].map(TestApplication.fullName)
    for _ in 0..<50 {
      try application.process.writeLine(
        "pipeline \(names[0]) {\"task\":\(task)} \(names[1]) {\"name\":\"next\"}")
      #expect(try application.nextAnswer().errorName == nil)
      let began = try application.nextAnswer()
      guard case .integer(let next)? = began["parameters"]?["task"] else {
        throw TestApplication.Unexpected(line: "\(began)")
      }
      #expect(next > task)
      task = Int(next)
    }
    #expect(try daemon.application(id).state == .background)
    #expect(try application.call("GetStatus").errorName == nil)
  }

  @Test(
    "An unacknowledged callback entitles an application to run; its acknowledgement suspends it")
  func callbackEntitles() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try TestApplication(daemon, id, "background", "manual")
    try application.registered()
    let callback = try application.nextCallback()
    let status = try daemon.application(id)
    #expect(status.state == .background)
    #expect(status.instance?.entitlements == [.callback])
    try application.send("Acknowledge", ["callback": .integer(Int64(callback.id))])
    try monitor.transition(id, to: .suspended)
  }

  @Test("A program that runs as one background task is killed if it still runs at the limit")
  func adoptedTask() throws {
    let daemon = try DaemonFixture(Self.short)
    let monitor = try Monitor(daemon)
    let endless = try daemon.shell("while :; do read x; done")
    try daemon.adopt("org.test.endless", endless, background: true, task: "work")
    let done = try daemon.shell("read x; exit 5")
    try daemon.adopt("org.test.done", done, background: true, task: "work")
    try done.writeLine("")
    #expect(try monitor.end("org.test.done") == "exited")
    #expect(try daemon.application("org.test.done").lastEnd?.code == 5)
    #expect(try monitor.end("org.test.endless") == "backgroundTimeExpired")
    #expect(try endless.waitForExit() == .signaled(signal: SIGKILL))
  }
}

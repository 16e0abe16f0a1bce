import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §6 with real processes. The tests of the core run in virtual time. They cover the
/// smallest number of bursts, and a machine that sleeps.
@Suite("§6: Keep-alive")
struct KeepAliveTests {
  private let id = "org.test.voip"
  /// The interval of most handlers of these tests, in seconds. `intervalUSec` is the same in
  /// microseconds.
  private static let interval = 1.5
  private static let intervalUSec = 1_500_000
  /// The time by which a planned call precedes its deadline: a twentieth of the interval.
  private static let leadUSec = 75_000
  private static let handlerTimeUSec = 1_400_000
  private static let policy = [
    ("KeepAliveMinimum", "1500ms"), ("KeepAliveHandlerTime", "1400ms"),
  ]

  private func daemon(_ ids: String...) throws -> DaemonFixture {
    var settings = DaemonFixture.Settings.voip("org.test.voip", "org.test.second", "org.test.third")
    settings.policy = Self.policy
    return try DaemonFixture(settings)
  }

  @Test(
    """
    The handler is called at least once before each interval ends, counted from the last call. The \
    application is resumed for the call, and then suspended again
    """)
  func calledWhileSuspended() throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id)
    let monitor = try Monitor(daemon)
    #expect(try application.setKeepAlive(.number(Self.interval)) == ["parameters": [:]])
    try daemon.suspend(id, monitor)
    var isInTime: [Bool] = []
    for _ in 0..<5 {
      let before = try #require(try daemon.keepAlive(id))
      #expect(before.intervalUSec == Self.intervalUSec)
      #expect(before.plannedUSec == before.deadlineUSec - Self.leadUSec)
      #expect(try daemon.state(of: application.pid) == .stopped)
      #expect(try monitor.transition(id, to: .background).cause == "event")
      try application.callback("keepAlive")
      try monitor.transition(id, to: .suspended)
      #expect(try daemon.state(of: application.pid) == .stopped)
      let after = try #require(try daemon.keepAlive(id))
      let ran = try #require(after.lastRunUSec)
      #expect(before.plannedUSec <= ran)
      #expect(after.deadlineUSec <= ran + Self.intervalUSec)
      isInTime.append(ran <= before.deadlineUSec)
    }
    // A busy machine may delay some of the calls, but not all of them.
    #expect(isInTime.contains(true))
    #expect(monitor.count(.keepAliveCalled, of: id) == 5)
    // The first suspension causes two transitions, and each of the five calls causes two.
    #expect(monitor.count(.transition, of: id) == 12)
  }

  @Test(
      """
      An application that does not acknowledge within KeepAliveHandlerTime is killed, reason \
      keepAliveTimeout
      """)
  func notAcknowledged() throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id, "sleeper")
    let monitor = try Monitor(daemon)
    try application.setKeepAlive(.number(Self.interval))
    try daemon.suspend(id, monitor)
    let call = try monitor.next(.keepAliveCalled, of: id)
    let end = try monitor.next(.ended, of: id)
    #expect(end.reason == "keepAliveTimeout")
    #expect(end.atUSec - call.atUSec >= Self.handlerTimeUSec)
    #expect(try application.process.waitForExit() == .signaled(signal: SIGKILL))
    let shown = try daemon.application(id)
    #expect(shown.lastEnd?.reason == .keepAliveTimeout)
    #expect(shown.instance == nil)
  }

  @Test("An application that acknowledges late, but within KeepAliveHandlerTime, is not killed")
  func acknowledgedByItself() throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id, "sleeper")
    let monitor = try Monitor(daemon)
    try application.setKeepAlive(.number(Self.interval))
    try daemon.suspend(id, monitor)
    let callback = try application.callback("keepAlive")
    #expect(try daemon.application(id).instance?.entitlements == [.callback])
    try application.send("Acknowledge", ["callback": .integer(Int64(callback))])
    try monitor.transition(id, to: .suspended)
    #expect(try application.process.pidfd.hasEnded() == false)
  }

  @Test(
    """
    The handlers of all applications run in common bursts. A burst calls exactly the handlers \
    whose deadline would pass before the next necessary burst
    """)
  func commonBursts() throws {
    let daemon = try daemon()
    // The intervals are 1.5 s, 2 s and 3.5 s. The burst at 1.5 s calls the first two handlers, and
    // the burst at 3 s calls all three.
    let ids = ["org.test.voip", "org.test.second", "org.test.third"]
    let applications = try ids.map { try TestApplication.active(daemon, $0) }
    let monitor = try Monitor(daemon)
    for (application, seconds) in zip(applications, [1.5, 2, 3.5]) {
      try application.send("SetKeepAliveTimeout", ["seconds": .number(seconds)])
    }
    for application in applications { #expect(try application.nextAnswer().errorName == nil) }
    let planned = try ids.compactMap { try daemon.keepAlive($0)?.plannedUSec }
    try #require(planned.count == 3)
    #expect(planned[1] == planned[0])
    #expect(planned[2] == planned[0] + Self.intervalUSec - Self.leadUSec)
    for id in ids { try daemon.sendToBackground(id) }
    try monitor.next("the third's") {
      $0.kind == .keepAliveCalled && $0.application == "org.test.third"
    }
    // All calls of one burst have the same timestamp.
    let called = monitor.seen.filter { $0.kind == .keepAliveCalled }
    let bursts = Dictionary(grouping: called, by: \.atUSec).sorted { $0.key < $1.key }
      .map { Set($0.value.map(\.application)) }
    #expect(bursts.count == 2)
    #expect(bursts.first == Set(ids.prefix(2)))
    // The monitor may not have received the complete second burst yet.
    #expect(bursts.last?.contains("org.test.third") == true)
    for application in applications { try application.callback("keepAlive") }
    #expect(Set(try ids.map { try daemon.keepAlive($0)?.lastRunUSec }).count == 1)
  }

  @Test("A wake-up for another reason (a socket) is used as a burst if that saves a burst")
  func usedWakeUp() throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id, "drain")
    let caller = try TestApplication.active(daemon, "org.test.second")
    let server = try StreamServer(.unix, in: daemon.folder)
    let (peer, _) = try application.connect(to: server)
    let monitor = try Monitor(daemon)
    try daemon.suspend(id, monitor)
    try caller.setKeepAlive(4)
    try daemon.suspend("org.test.second", monitor)
    let deadline = try #require(try daemon.keepAlive("org.test.second")).deadlineUSec
    // In the last quarter of the interval, the daemon calls the handler at any wake-up, because
    // this saves a separate wake-up later.
    let moment = UInt64(deadline - 1_000_000) * 1000
    let wait = Duration.nanoseconds(Int64(moment) - Int64(BootClock.now()))
    _ = try Readiness.wait(for: 0, on: peer.number, timeout: max(.zero, wait))
    try peer.send("x")
    let arrival = try monitor.next(.socketsReady, of: id)
    let call = try monitor.next(.keepAliveCalled, of: "org.test.second")
    #expect(call.atUSec == arrival.atUSec)
    #expect(call.atUSec < deadline)
    try caller.callback("keepAlive")
  }

  @Test(
    "An interval below KeepAliveMinimum = 600 s is refused, and so is an invalid one",
    arguments: [
      ("1.499", "KeepAliveTooShort"), ("0.000001", "KeepAliveTooShort"),
      ("5e-324", "KeepAliveTooShort"), ("0", "InvalidParameter"), ("-0.0", "InvalidParameter"),
      ("-1", "InvalidParameter"), ("-1e300", "InvalidParameter"), ("true", "InvalidParameter"),
      ("\"600\"", "InvalidParameter"), ("[600]", "InvalidParameter"),
    ])
  func refused(_ seconds: String, _ error: String) throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id)
    try application.setKeepAlive(700)
    let before = try daemon.keepAlive(id)
    let answer = try application.raw(Self.call(seconds))
    #expect(answer.errorName == error, "\(answer)")
    if error == "InvalidParameter" { #expect(answer["parameters"]?["parameter"] == "seconds") }
    if error == "KeepAliveTooShort" {
      #expect(answer["parameters"]?["minimumUSec"] == .integer(Int64(Self.intervalUSec)))
    }
    #expect(try daemon.keepAlive(id) == before)
  }

  @Test("A number that JSON cannot represent closes the connection that sent it", arguments: [
    "NaN", "Infinity", "-Infinity", "1e400", "0x10", "+1",
  ])
  func noNumber(_ seconds: String) throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id)
    let answer = try application.raw(Self.call(seconds))
    #expect(answer["closed"] == true || answer.errorName == "InvalidParameter", "\(answer)")
    #expect(try daemon.application(id).instance?.pid == Int(application.pid))
    #expect(try daemon.keepAlive(id) == nil)
  }

  @Test("An interval of more than 1e9 s is refused by the field's name; 1e9 s is accepted")
  func huge() throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id)
    for seconds in ["1e300", "1e18", "1000000001"] {
      let answer = try application.raw(Self.call(seconds))
      #expect(answer.errorName == "InvalidParameter", "\(answer)")
      #expect(answer["parameters"]?["parameter"] == "seconds")
      #expect(try daemon.keepAlive(id) == nil)
    }
    #expect(try application.raw(Self.call("1e9")) == ["parameters": [:]])
    let keepAlive = try #require(try daemon.keepAlive(id))
    #expect(keepAlive.intervalUSec == 1_000_000_000_000_000)
    #expect(keepAlive.deadlineUSec > keepAlive.intervalUSec)
  }

  private static func call(_ seconds: String) -> String {
    #"{"method":"org.taskschedd.Application.SetKeepAliveTimeout","parameters":{"seconds":"#
      + seconds + "}}"
  }

  @Test("Without the mode voip, the call is refused with ModeNotDeclared")
  func withoutMode() throws {
    let daemon = try DaemonFixture(
      .init(manifests: [("org.test.player", "background-modes = [\"audio\"]")]))
    for id in ["org.test.player", "org.test.unknown"] {
      let application = try TestApplication(daemon, id)
      try application.registered()
      let answer = try application.setKeepAlive(700)
      #expect(answer.errorName == "ModeNotDeclared")
      #expect(answer["parameters"]?["mode"] == "voip")
      // Without the mode, only a call that clears the handler succeeds.
      #expect(try application.setKeepAlive(nil).errorName == nil)
    }
  }

  @Test("Without an event stream, the call is refused with NoEventStream")
  func withoutStream() throws {
    let daemon = try daemon()
    let application = try TestApplication(daemon, id, "silent")
    #expect(try application.setKeepAlive(700).errorName == "NotRegistered")
    try daemon.adopt(id, application.process)
    #expect(try application.setKeepAlive(700).errorName == "NoEventStream")
    #expect(try daemon.keepAlive(id) == nil)
  }

  @Test("A handler that the application cleared is not called again")
  func cleared() throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id)
    let other = try TestApplication.active(daemon, "org.test.second")
    let monitor = try Monitor(daemon)
    try application.setKeepAlive(.number(Self.interval))
    try other.setKeepAlive(2)
    #expect(try application.setKeepAlive(nil) == ["parameters": [:]])
    #expect(try daemon.keepAlive(id) == nil)
    try daemon.suspend(id, monitor)
    try monitor.next(.keepAliveCalled, of: "org.test.second")
    #expect(monitor.count(.keepAliveCalled, of: id) == 0)
    #expect(try daemon.application(id).state == .suspended)
  }

  @Test("A handler is cleared when the application terminates", arguments: ["exit", "terminate"])
  func clearedByEnd(_ way: String) throws {
    let daemon = try daemon()
    let application = try TestApplication.active(daemon, id)
    let other = try TestApplication.active(daemon, "org.test.second")
    let monitor = try Monitor(daemon)
    try application.setKeepAlive(.number(Self.interval))
    try other.setKeepAlive(2)
    if way == "exit" {
      try application.process.writeLine("exit 0")
    } else {
      try daemon.terminate(id)
    }
    try monitor.end(id)
    let next = try TestApplication.active(daemon, id)
    #expect(try daemon.keepAlive(id) == nil)
    try monitor.next(.keepAliveCalled, of: "org.test.second")
    #expect(monitor.count(.keepAliveCalled, of: id) == 0)
    #expect(try next.process.pidfd.hasEnded() == false)
  }

  @Test(
    """
    §15: kill -9 between two bursts does not lose an acknowledged keep-alive handler: the next \
    daemon calls the handler in time
    """)
  func daemonKilled() throws {
    let first = try daemon()
    let application = try TestApplication.active(first, id)
    var monitor = try Monitor(first)
    try application.setKeepAlive(4)
    try first.suspend(id, monitor)
    let before = try #require(try first.keepAlive(id))
    try first.die()
    #expect(try first.state(of: application.pid) == .stopped)
    var settings = DaemonFixture.Settings.voip(id)
    settings.policy = Self.policy
    let daemon = try DaemonFixture(settings, after: first)
    #expect(try daemon.keepAlive(id) == before)
    #expect(try daemon.application(id).state == .suspended)
    #expect(try daemon.state(of: application.pid) == .stopped)
    monitor = try Monitor(daemon)
    let call = try monitor.next(.keepAliveCalled, of: id)
    #expect(before.plannedUSec <= call.atUSec)
    // No service manager kept the connections, so they ended with the previous daemon.
    try application.streamEnd()
    try application.reconnect()
    try application.callback("keepAlive")
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.keepAlive(id)?.lastRunUSec == call.atUSec)
  }
}

import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §3, with real processes.
@Suite("§3: Callbacks")
struct CallbackTests {
  private let id = "org.test.mail"

  @Test(
    """
    An instance that does not acknowledge a lifecycle callback, of which there are six, within \
    CallbackTimeout is killed, reason callbackTimeout
    """)
  func timeout() throws {
    let daemon = try DaemonFixture(.init(policy: [("CallbackTimeout", "150ms")]))
    let monitor = try Monitor(daemon)
    let started = BootClock.now()
    let application = try TestApplication(daemon, id, "manual")
    try application.registered()
    #expect(try application.nextCallback().kind == "didFinishLaunching")
    #expect(try monitor.end(id) == "callbackTimeout")
    #expect(BootClock.now() - started >= 150_000_000, "a limit is never early")
    #expect(try application.process.waitForExit() == .signaled(signal: SIGKILL))
    #expect(try daemon.application(id).lastEnd?.reason == .callbackTimeout)
  }

  @Test(
    """
    Callbacks to one application are delivered one at a time, in order. An application that does \
    not acknowledge a callback does not get the next callback
    """)
  func oneAtATime() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id, "manual")
    try application.registered()
    for kind in ["didFinishLaunching", "didBecomeActive", "willResignActive"] {
      let callback = try application.nextCallback()
      #expect(callback.kind == kind)
      if kind == "didBecomeActive" { try daemon.sendToBackground(id) }
      // The next callback will have the id `callback.id + 1`. The daemon does not know that id yet,
      // because it sends the next callback only after the acknowledgement of the present one.
      #expect(try application.acknowledge(callback.id + 1).errorName == "UnknownCallback")
      #expect(try daemon.application(id).instance?.callbacksPending ?? 0 >= 1)
      #expect(try application.acknowledge(callback.id).errorName == nil)
      #expect(try application.acknowledge(callback.id).errorName == "UnknownCallback")
    }
    #expect(try application.nextCallback().kind == "didEnterBackground")
  }

  @Test("An unacknowledged callback is sent again to an application that has reconnected")
  func reconnects() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id, "manual")
    try application.registered()
    let callback = try application.nextCallback()
    try application.process.writeLine("drop")
    #expect(try application.nextEvent()["closed"] == true)
    try application.process.writeLine("stream \(id)")
    let registration = try application.registered()
    #expect(registration["state"] == "inactive")
    let again = try application.nextCallback()
    #expect(again == callback)
    #expect(try application.acknowledge(again.id).errorName == nil)
    #expect(try application.nextCallback().kind == "didBecomeActive")
  }

  @Test("A second stream of an instance replaces the first, which ends with StreamReplaced")
  func replaced() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id, "manual")
    try application.registered()
    let callback = try application.nextCallback()
    try application.process.writeLine("stream \(id)")
    var events: [JSONValue] = []
    for _ in 0..<3 { events.append(try application.nextEvent()) }
    #expect(events.contains { $0.errorName == "StreamReplaced" })
    let delivered = events.compactMap { $0["parameters"]?["callback"]?["id"] }
    #expect(delivered == [.integer(Int64(callback.id))])
  }

  @Test(
    """
    While a debugger traces a process of the instance, the daemon enforces no limit for the \
    instance. When the debugger leaves, the limit restarts
    """)
  func debugger() throws {
    let daemon = try DaemonFixture(
      .init(policy: [("CallbackTimeout", "200ms"), ("TracerCheckInterval", "10ms")]))
    let monitor = try Monitor(daemon)
    // The daemon adopts the application as an unaware program, so no callback awaits an
    // acknowledgement when the trace begins.
    let application = try TestApplication(daemon, id, "silent", "manual")
    try daemon.adopt(id, application.process)
    #expect(try application.callFromChild("GetStatus").errorName == nil)
    let child = try application.nextChild()
    // The tracer attaches to a descendant rather than to the leader, because the daemon must
    // respect a tracer of any process of the instance.
    let tracer = try TestProcess.python(Programs.resource("tracer.py"), ["\(child)"])
    let answer = try tracer.nextLine()
    guard answer == "traces" else {
      // Some machines forbid debuggers. The test then reports a known issue.
      return withKnownIssue("this machine forbids debuggers") { Issue.record("\(answer)") }
    }
    try application.process.writeLine("stream \(id)")
    try application.registered()
    try daemon.call(ControlInterface.Deactivate.self, .init(application: id))
    _ = try application.nextCallback()
    try beBusy(milliseconds: 500)
    let held = try daemon.application(id)
    #expect(held.instance != nil)
    #expect(held.instance?.ending == nil)
    let left = BootClock.now()
    try tracer.writeLine("leave")
    #expect(try tracer.nextLine() == "left")
    #expect(try monitor.end(id) == "callbackTimeout")
    #expect(BootClock.now() - left >= 200_000_000, "the limit has restarted")
  }

  /// Starts a managed program that traces its own child. Returns nil if the machine forbids
  /// debuggers.
  private func selfTracer(_ daemon: DaemonFixture, task: String? = nil) throws -> TestProcess? {
    let program = try daemon.python(Programs.resource("self_tracer.py"))
    let answer = try program.nextLine()
    guard answer == "traces" else {
      withKnownIssue("this machine forbids debuggers") { Issue.record("\(answer)") }
      return nil
    }
    try daemon.adopt(id, program, task: task)
    return program
  }

  @Test(
      """
      A tracer inside the instance delays no limit: a program that traces itself has the normal \
      background time
      """)
  func selfTraced() throws {
    let daemon = try DaemonFixture(
      .init(policy: [("BackgroundTime", "300ms"), ("ExpirationLead", "100ms")]))
    let monitor = try Monitor(daemon)
    guard let program = try selfTracer(daemon, task: "trace") else { return }
    try daemon.sendToBackground(id)
    #expect(try monitor.end(id) == "backgroundTimeExpired")
    #expect(try program.waitForExit() == .signaled(signal: SIGKILL))
  }

  @Test("A program that traces itself is suspended completely, and continues when it is resumed")
  func selfTracedSuspended() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    guard let program = try selfTracer(daemon) else { return }
    try daemon.sendToBackground(id)
    try monitor.transition(id, to: .suspended)
    let children = try unwrap(try daemon.proc.children(program.pid))
    let child = try unwrap(children.first)
    let before = try unwrap(try daemon.proc.stat(child)).cpuTicks
    try beBusy(milliseconds: 100)
    #expect(try unwrap(try daemon.proc.stat(child)).cpuTicks == before)
    try daemon.activate(id)
    #expect(try daemon.terminate(id).reason == .terminatedByOperator)
  }

  @Test(
      """
      Terminate ends a program that an outside debugger traces, and one that traces itself, after \
      TerminateTimeout
      """, arguments: [false, true])
  func terminateTraced(byItself: Bool) throws {
    let daemon = try DaemonFixture(.init(policy: [("TerminateTimeout", "150ms")]))
    let program: TestProcess
    var tracer: TestProcess?
    if byItself {
      guard let selfTracer = try selfTracer(daemon) else { return }
      program = selfTracer
    } else {
      program = try daemon.shell("trap '' TERM; echo ready; while :; do read x; done")
      #expect(try program.nextLine() == "ready")
      try daemon.adopt(id, program)
      let debugger = try TestProcess.python(Programs.resource("tracer.py"), ["\(program.pid)"])
      let answer = try debugger.nextLine()
      guard answer == "traces" else {
        return withKnownIssue("this machine forbids debuggers") { Issue.record("\(answer)") }
      }
      tracer = debugger
    }
    let started = BootClock.now()
    #expect(try daemon.terminate(id).reason == .terminatedByOperator)
    #expect(BootClock.now() - started >= 150_000_000)
    // The kernel hides the end of a traced process from its parent until the tracer waits for the
    // process, detaches or exits. This line of input makes the tracer do so.
    try tracer?.writeLine("leave")
    #expect(try program.waitForExit() == .signaled(signal: SIGKILL))
  }

  @Test(
    """
    An unaware application gets no callbacks: its transitions take effect at once, and its \
    termination is SIGTERM, then SIGKILL after TerminateTimeout
    """)
  func unaware() throws {
    // The program must run its trap in this time, even on a busy machine.
    let daemon = try DaemonFixture(.init(policy: [("TerminateTimeout", "1s")]))
    let monitor = try Monitor(daemon)
    let stubborn = try daemon.shell("trap 'echo term' TERM; echo ready; while :; do read x; done")
    #expect(try stubborn.nextLine() == "ready")
    try daemon.adopt("org.test.stubborn", stubborn)
    try daemon.sendToBackground("org.test.stubborn")
    try monitor.transition("org.test.stubborn", to: .suspended)
    try daemon.activate("org.test.stubborn")
    #expect(try daemon.application("org.test.stubborn").instance?.callbacksPending == 0)
    let started = BootClock.now()
    #expect(try daemon.terminate("org.test.stubborn").reason == .terminatedByOperator)
    #expect(BootClock.now() - started >= 1_000_000_000)
    #expect(try stubborn.nextLine() == "term")
    #expect(try stubborn.waitForExit() == .signaled(signal: SIGKILL))

    let polite = try daemon.shell("trap 'exit 7' TERM; echo ready; while :; do read x; done")
    #expect(try polite.nextLine() == "ready")
    try daemon.adopt("org.test.polite", polite)
    try daemon.terminate("org.test.polite")
    #expect(try polite.waitForExit() == .exited(code: 7))
  }
}

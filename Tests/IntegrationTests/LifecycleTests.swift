import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §2, with real processes. The tests follow the rows of the table of transitions.
@Suite("§2: States and transitions")
struct LifecycleTests {
  private let id = "org.test.mail"

  @Test("An application is active after didFinishLaunching and didBecomeActive")
  func launchToForeground() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id)
    let registration = try application.registered()
    #expect(registration["launchReason"] == "user")
    #expect(registration["state"] == "inactive")
    #expect(try application.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    let status = try daemon.application(id)
    #expect(status.state == .active)
    #expect(status.instance?.pid == Int(application.pid))
    #expect(status.instance?.aware == true)
    #expect(status.switcherPosition == 1)
  }

  @Test("An application that is launched in the background gets only didFinishLaunching")
  func launchInBackground() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try TestApplication(daemon, id, "background")
    #expect(try application.registered()["state"] == "background")
    #expect(try application.callbackKinds(1) == ["didFinishLaunching"])
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: application.pid) == .stopped)
    #expect(
      try daemon.application(id).switcherPosition == nil, "the application has never been active")
  }

  @Test("An interrupted application is inactive until the end of the interruption")
  func interrupted() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    try daemon.call(ControlInterface.Deactivate.self, .init(application: id))
    #expect(try application.callbackKinds(1) == ["willResignActive"])
    #expect(try daemon.application(id).state == .inactive)
    try daemon.activate(id)
    #expect(try application.callbackKinds(1) == ["didBecomeActive"])
    #expect(try daemon.application(id).state == .active)
  }

  @Test(
    """
    An active application that is sent away gets willResignActive and didEnterBackground. Without \
    an entitlement, it is suspended without a callback. An activation sends willEnterForeground \
    and didBecomeActive
    """)
  func awayAndBack() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    try daemon.sendToBackground(id)
    #expect(try application.callbackKinds(2) == ["willResignActive", "didEnterBackground"])
    try monitor.transition(id, to: .suspended)
    #expect(try daemon.state(of: application.pid) == .stopped)
    try daemon.activate(id)
    try monitor.transition(id, to: .active)
    #expect(try application.callbackKinds(2) == ["willEnterForeground", "didBecomeActive"])
    #expect(try daemon.state(of: application.pid) != .stopped)
  }

  @Test("An inactive application that is sent away gets only didEnterBackground")
  func inactiveAway() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    try daemon.call(ControlInterface.Deactivate.self, .init(application: id))
    _ = try application.callbackKinds(1)
    try daemon.sendToBackground(id)
    #expect(try application.callbackKinds(1) == ["didEnterBackground"])
  }

  @Test(
    """
    An application is inactive until it has acknowledged didFinishLaunching or \
    willEnterForeground, and then active. If another application of its seat is activated before, \
    it goes to the background
    """)
  func inactiveUntilAcknowledged() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, id, "manual")
    try application.registered()
    let launched = try application.nextCallback()
    #expect(try daemon.application(id).state == .inactive)
    _ = try application.acknowledge(launched.id)
    let active = try application.nextCallback()
    #expect(active.kind == "didBecomeActive")
    #expect(try daemon.application(id).state == .active)
    _ = try application.acknowledge(active.id)
    try application.begin()
    try daemon.sendToBackground(id)
    for _ in 0..<2 { _ = try application.acknowledge(try application.nextCallback().id) }
    try daemon.activate(id)
    let entering = try application.nextCallback()
    #expect(entering.kind == "willEnterForeground")
    #expect(try daemon.application(id).state == .inactive)
    let other = try TestApplication(daemon, "org.test.other")
    try other.registered()
    #expect(try daemon.application(id).state == .background)
    _ = try application.acknowledge(entering.id)
    #expect(try application.nextCallback().kind == "didEnterBackground")
    #expect(try other.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
  }

  @Test("The activation of another application sends an interrupted one to the background")
  func interruptedAway() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    try daemon.call(ControlInterface.Deactivate.self, .init(application: id))
    #expect(try application.callbackKinds(1) == ["willResignActive"])
    let other = try TestApplication(daemon, "org.test.other")
    try other.registered()
    #expect(try application.callbackKinds(1) == ["didEnterBackground"])
    let away = try monitor.transition(id, to: .background)
    #expect(away.from == .inactive)
    #expect(away.by == "org.test.other")
    withExtendedLifetime(other) {}
  }

  @Test(
    """
    One application is active per seat. The activation of B while A is active sends A away. B does \
    not wait for A's acknowledgement. The order of the last activations is kept
    """)
  func another() throws {
    let daemon = try DaemonFixture()
    let first = try TestApplication(daemon, "org.test.a", "manual")
    try first.registered()
    try first.acknowledge(["didFinishLaunching", "didBecomeActive"])
    let second = try TestApplication(daemon, "org.test.b")
    try second.registered()
    #expect(try second.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    #expect(try daemon.application("org.test.b").state == .active)
    #expect(try first.nextCallback().kind == "willResignActive")
    #expect(try daemon.application("org.test.a").state == .background)
    let order = try daemon.applications().map { "\($0.application) \($0.switcherPosition ?? 0)" }
    #expect(order == ["org.test.b 1", "org.test.a 2"])
  }

  @Test("A background application gets willTerminate; a suspended one is killed without notice")
  func terminated() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    try application.begin()
    try daemon.sendToBackground(id)
    _ = try application.callbackKinds(2)
    #expect(try daemon.terminate(id).reason == .terminatedByOperator)
    #expect(try application.callbackKinds(1) == ["willTerminate"])
    #expect(try daemon.application(id).state == .notRunning)

    let other = try TestApplication(daemon, id, "background")
    try other.registered()
    try monitor.transition(id, to: .suspended)
    let end = try daemon.call(ControlInterface.Terminate.self, .init(application: id, byUser: true))
    #expect(end.end?.reason == .terminatedByUser)
    #expect(try other.process.waitForExit() == .signaled(signal: SIGKILL))
    #expect(try other.callbackKinds(1) == ["didFinishLaunching"])
    #expect(
      try other.process.readLine() == nil, "a suspended application receives no further callback")
  }

  @Test(
    """
    An active application that is sent away ends with willTerminate if the machine has no \
    multitasking
    """)
  func optedOut() throws {
    let daemon = try DaemonFixture(.init(options: [("multitasking-supported", "false")]))
    let monitor = try Monitor(daemon)
    let application = try TestApplication(daemon, id)
    try application.registered()
    _ = try application.callbackKinds(2)
    try daemon.sendToBackground(id)
    #expect(try application.callbackKinds(2) == ["willResignActive", "willTerminate"])
    #expect(try monitor.end(id) == "optedOut")
    #expect(try daemon.application(id).state == .notRunning)
  }

  @Test("An application whose leader exits is notRunning, and impossible transitions are refused")
  func refused() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let program = try daemon.shell("read line; exit 3")
    try daemon.adopt(id, program, background: true, task: "work")
    #expect(
      throws: ControlInterface.Failure.invalidTransition(
        application: id, state: .background, cause: "interruption")
    ) { try daemon.call(ControlInterface.Deactivate.self, .init(application: id)) }
    #expect(try daemon.application(id).state == .background)
    try program.writeLine("go")
    try monitor.transition(id, to: .notRunning)
    #expect(throws: ControlInterface.Failure.notLaunchable(application: id)) {
      try daemon.activate(id)
    }
  }
}

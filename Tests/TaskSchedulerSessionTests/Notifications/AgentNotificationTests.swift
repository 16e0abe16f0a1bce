import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerSession

/// A session agent with a stand-in daemon and a simulated notification service.
private final class Scene {
  let loop: EventLoop
  let directory = TemporaryDirectory()
  let bus: SessionBus
  let service: SimulatedService
  var daemons: [StandInDaemon] = []
  private var agent: SessionAgent?

  /// - Parameter daemonCount: the number of daemons that the agent attaches to.
  init(daemonCount: Int = 1) throws {
    loop = try EventLoop()
    bus = try SessionBus(path: directory.file("bus"))
    service = try SimulatedService(on: bus, .answers)
    for number in 0..<daemonCount { daemons.append(try startDaemon(number)) }
    try startAgent()
  }

  var daemon: StandInDaemon { daemons[0] }

  func startDaemon(_ number: Int) throws -> StandInDaemon {
    try StandInDaemon(at: directory.file("socket\(number)"), on: loop)
  }

  func startAgent() throws {
    let address = bus.address
    let before = daemons.map(\.attachments)
    agent = nil
    agent = try SessionAgent(
      loop: loop, sockets: daemons.indices.map { directory.file("socket\($0)") },
      environment: SessionEnvironment(uid: getuid()) {
        $0 == "DBUS_SESSION_BUS_ADDRESS" ? address : nil
      }
    ) { _ in }
    for (number, count) in before.enumerated() {
      try wait("the agent attaches") { self.daemons[number].attachments == count + 1 }
    }
  }

  func wait(
    _ expectation: String, location: SourceLocation = #_sourceLocation, until isDone: () -> Bool
  ) throws {
    let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
    while !isDone() {
      guard BootClock.now() < end else {
        Issue.record("\(expectation): \(daemon.notificationReports)", sourceLocation: location)
        throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
      }
      try loop.turn(within: .milliseconds(100))
    }
  }

  /// Waits until the daemon has received exactly these reports about notifications.
  func wait(
    for reports: [String], of daemon: StandInDaemon? = nil,
    location: SourceLocation = #_sourceLocation
  ) throws {
    try wait("\(reports)", location: location) {
      (daemon ?? self.daemon).notificationReports.count >= reports.count
    }
    #expect((daemon ?? self.daemon).notificationReports == reports, sourceLocation: location)
  }

  /// Waits for the next request that the service receives.
  func nextRequest() throws -> String? {
    // Runs the loop until the service, which is another process, has received a request.
    for _ in 0..<1000 where try !service.hasWritten { try loop.turn(within: .milliseconds(10)) }
    return try service.readLine()
  }
}

extension StandInDaemon {
  /// The reports about notifications, as text.
  var notificationReports: [String] {
    reports.compactMap { call in
      guard let name = call.method.split(separator: ".").last, name.hasPrefix("Notification"),
        case .integer(let id)? = call.parameters["notification"]
      else { return nil }
      return "\(name.dropFirst("Notification".count)) \(id)"
    }
  }

  /// Returns the parameters of the last report of a kind.
  func last<Input: WireValue>(_ method: String, _ type: Input.Type) -> Input? {
    reports.last { $0.method == method }.flatMap { try? $0.decode(type) }
  }

  func show(
    _ id: Int, _ title: String, firedAt: Int = 1, shown: SessionInterface.ShownNotification? = nil
  ) {
    order(
      .init(
        show: .init(
          id: id, firedAt: firedAt, application: "org.example.mail", title: title,
          urgency: .normal, actions: [.init(id: "reply", title: "Reply")], shown: shown)))
  }

  func synchronize() { order(.init(synchronized: true)) }
}

@Suite(
  "§20: Notifications between a daemon, the session agent and the desktop", .serialized,
  .enabled(if: SessionBus.missing == nil, "\(SessionBus.missing ?? "")"))
struct AgentNotificationTests {
  @Test("The agent shows a notification, and reports that it is shown, chosen and closed")
  func reports() throws {
    let scene = try Scene()
    scene.daemon.synchronize()
    scene.daemon.show(5, "Mail")
    try scene.wait(for: ["Shown 5"])
    #expect(try scene.nextRequest() == "Notify 0 Mail")
    try scene.service.send("ActivationToken 1 token")
    try scene.service.send("ActionInvoked 1 action.reply")
    try scene.wait(for: ["Shown 5", "Chosen 5"])
    let chosen = scene.daemon.last(
      SessionInterface.NotificationChosen.name, SessionInterface.NotificationChosen.Input.self)
    #expect(chosen?.action == "reply" && chosen?.activationToken == "token")
    scene.daemon.order(.init(close: .init(id: 5)))
    #expect(try scene.nextRequest() == "CloseNotification 1")
    try scene.wait(for: ["Shown 5", "Chosen 5", "Closed 5"])
    scene.daemon.order(.init(close: .init(id: 6)))
    try scene.wait(for: ["Shown 5", "Chosen 5", "Closed 5", "Closed 6"])
  }

  @Test("A daemon that restarts sends its notifications again; the screen does not change")
  func daemonRestarts() throws {
    let scene = try Scene()
    scene.daemon.synchronize()
    scene.daemon.show(5, "Mail")
    try scene.wait(for: ["Shown 5"])
    #expect(try scene.nextRequest() == "Notify 0 Mail")
    scene.daemons = []
    scene.daemons = [try scene.startDaemon(0)]
    try scene.wait("the agent attaches") { scene.daemon.attachments == 1 }
    scene.daemon.show(5, "Mail")
    scene.daemon.synchronize()
    // The new daemon may not have stored that the notification is shown.
    try scene.wait(for: ["Shown 5"])
    scene.daemon.show(5, "New mail", firedAt: 2)
    #expect(try scene.nextRequest() == "Notify 1 New mail")
  }

  @Test(
    "The agent closes notifications that a daemon does not send again, and reports missed events")
  func synchronized() throws {
    let scene = try Scene()
    scene.daemon.synchronize()
    for id in 1...3 { scene.daemon.show(id, "\(id)") }
    try scene.wait(for: ["Shown 1", "Shown 2", "Shown 3"])
    for id in 1...3 { #expect(try scene.nextRequest() == "Notify 0 \(id)") }
    // The daemon dies before it has handled the report that the user has closed notification 2.
    scene.daemon.answers = { $0 != SessionInterface.NotificationClosed.name }
    try scene.service.send("NotificationClosed 2 2")
    try scene.wait(for: ["Shown 1", "Shown 2", "Shown 3", "Closed 2"])
    scene.daemons = []
    scene.daemons = [try scene.startDaemon(0)]
    try scene.wait("the agent attaches") { scene.daemon.attachments == 1 }
    // The next daemon does not know that notification 2 is closed, and no longer shows notification
    // 3.
    scene.daemon.show(1, "1")
    scene.daemon.show(2, "2", shown: .init(id: 2, service: "any"))
    scene.daemon.synchronize()
    #expect(try scene.nextRequest() == "CloseNotification 3")
    try scene.wait("all reports") { scene.daemon.notificationReports.contains("Closed 3") }
    #expect(Set(scene.daemon.notificationReports) == ["Closed 2", "Shown 1", "Closed 3"])
  }

  @Test("The next agent replaces the notifications of the earlier one, and closes withdrawn ones")
  func agentRestarts() throws {
    let scene = try Scene()
    scene.daemon.synchronize()
    for id in 1...2 { scene.daemon.show(id, "\(id)") }
    try scene.wait(for: ["Shown 1", "Shown 2"])
    for id in 1...2 { #expect(try scene.nextRequest() == "Notify 0 \(id)") }
    let shown = scene.daemon.last(
      SessionInterface.NotificationShown.name, SessionInterface.NotificationShown.Input.self)
    let service = try #require(shown).shown.service
    try scene.startAgent()
    scene.daemon.show(1, "1", shown: .init(id: 1, service: service))
    scene.daemon.order(.init(close: .init(id: 2, shown: .init(id: 2, service: service))))
    scene.daemon.synchronize()
    let requests = [try scene.nextRequest(), try scene.nextRequest()]
    #expect(Set(requests) == ["Notify 1 1", "CloseNotification 2"])
    try scene.wait("all reports") { scene.daemon.notificationReports.count == 4 }
    #expect(Set(scene.daemon.notificationReports.suffix(2)) == ["Shown 1", "Closed 2"])
  }

  @Test("Notifications of two daemons with the same id are different notifications")
  func twoDaemons() throws {
    let scene = try Scene(daemonCount: 2)
    for daemon in scene.daemons { daemon.synchronize() }
    scene.daemons[0].show(5, "System")
    try scene.wait(for: ["Shown 5"])
    scene.daemons[1].show(5, "Own")
    try scene.wait(for: ["Shown 5"], of: scene.daemons[1])
    #expect(try scene.nextRequest() == "Notify 0 System")
    #expect(try scene.nextRequest() == "Notify 0 Own")
    try scene.service.send("ActionInvoked 2 default")
    try scene.wait(for: ["Shown 5", "Chosen 5"], of: scene.daemons[1])
    #expect(scene.daemons[0].notificationReports == ["Shown 5"])
  }

  @Test("Without an address of a session bus, a notification is reported as not shown, and kept")
  func noBus() throws {
    let loop = try EventLoop()
    var reports: [NotificationReport] = []
    let notifications = try DesktopNotifications(
      address: nil, loop: loop, problemChanged: { _ in }, report: { reports.append($1) })
    notifications.show(PresentedNotification.sample(7, "Mail").content, of: 0)
    #expect(reports.isEmpty)
    while reports.isEmpty { try loop.turn(within: deadline) }
    guard case .failed(_, isRefused: false)? = reports.first?.kind else {
      Issue.record("\(reports)")
      return
    }
  }

  @Test("A badge is a signal to docks, which docks that start later receive again")
  func badge() throws {
    let scene = try Scene()
    let monitor = try TestProcess(
      "/usr/bin/dbus-monitor",
      [
        "dbus-monitor", "--address", scene.bus.address,
        "interface='com.canonical.Unity.LauncherEntry'",
      ]
    ) { $0.environment = scene.bus.environment }
    while try !unwrap(try monitor.readLine()).contains("NameLost") {}
    func update() throws -> [String] {
      var lines: [String] = []
      while lines.last?.contains("boolean") != true {
        while try !monitor.hasWritten { try scene.loop.turn(within: .milliseconds(10)) }
        lines.append(try unwrap(try monitor.readLine()))
      }
      return lines
    }
    scene.daemon.order(.init(badge: .init(application: "org.example.mail", count: 3)))
    let first = try update()
    #expect(first.contains { $0.contains("application://org.example.mail.desktop") })
    #expect(first.contains { $0.contains("int64 3") } && first.last?.contains("true") == true)
    let dock = try TestProcess.python(Self.dock) { $0.environment = scene.bus.environment }
    #expect(try dock.readLine() == "ready")
    #expect(try update().contains { $0.contains("int64 3") })
    scene.daemon.order(.init(badge: .init(application: "org.example.mail", count: 0)))
    #expect(try update().contains { $0.contains("int64 0") })
  }

  /// A program that owns com.canonical.Unity, as docks do.
  private static let dock = """
    import ctypes, os, signal
    sd = ctypes.CDLL("libsystemd.so.0")
    bus = ctypes.c_void_p()
    sd.sd_bus_new(ctypes.byref(bus))
    sd.sd_bus_set_address(bus, os.environ["DBUS_SESSION_BUS_ADDRESS"].encode())
    sd.sd_bus_set_bus_client(bus, 1)
    sd.sd_bus_start(bus)
    sd.sd_bus_request_name(bus, b"com.canonical.Unity", ctypes.c_uint64(0))
    print("ready", flush=True)
    signal.pause()
    """
}

@Suite("§20: The reports about notifications that a daemon has not acknowledged")
struct NotificationReportTests {
  private var reports = NotificationReports()

  private mutating func add(_ id: Int, _ kind: NotificationReport.Kind) {
    reports.add(NotificationReport(notification: id, firedAt: 1, kind: kind))
  }

  private mutating func takeAll() -> [NotificationReport.Kind] {
    var kinds: [NotificationReport.Kind] = []
    while let report = reports.take() {
      kinds.append(report.kind)
      reports.acknowledged()
    }
    return kinds
  }

  @Test("A later report replaces an earlier report that it makes obsolete")
  mutating func replaced() {
    let one = SessionInterface.ShownNotification(id: 1, service: "a")
    let two = SessionInterface.ShownNotification(id: 2, service: "a")
    for _ in 0..<100 {
      add(1, .failed(reason: "none", isRefused: false))
      add(1, .shown(one))
      add(1, .chosen(action: nil, activationToken: nil))
      add(1, .closed)
      add(1, .shown(two))
    }
    let kinds = takeAll()
    #expect(kinds == [.chosen(action: nil, activationToken: nil), .shown(two)])
    add(1, .shown(one))
    add(1, .closed)
    let rest = takeAll()
    #expect(rest == [.shown(one), .closed], "the daemon must know that the notification was shown")
  }

  @Test("A report without a reply is sent again after the next attachment")
  mutating func repeated() {
    add(1, .closed)
    let (first, second) = (reports.take(), reports.take())
    #expect(first != nil && second == nil)
    add(1, .closed)
    reports.attached()
    let kinds = takeAll()
    #expect(kinds == [.closed, .closed])
  }
}

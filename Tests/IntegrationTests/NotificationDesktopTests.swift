import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §9, with a real notification service (dunst) on a separate bus, and a session agent.
/// `DesktopTests` and `SimulatedServiceTests` test the messages between the service and the agent.
/// `DesktopMessageTests` tests the sound, which dunst does not play.
@Suite(
  "§9: The desktop's notification service shows notifications to the user", .serialized,
  .enabled(if: Desktop.missing == nil, Comment(rawValue: Desktop.missing ?? "possible")))
struct NotificationDesktopTests {
  private let id = "org.test.mail"
  private let agents = SessionAgents()

  /// Starts a daemon, and a session agent on the session bus at an address.
  private func daemon(
    _ address: String, manifests: [(String, String)] = []
  ) throws -> DaemonFixture {
    let daemon = try DaemonFixture(
      .init(options: [("log-level", "\"debug\"")], manifests: manifests))
    try agents.start(daemon, bus: address)
    return daemon
  }

  /// A restart while a notification is on the screen.
  enum Restart: String, CaseIterable {
    case killedDaemon, stoppedDaemon, killedAgent, stoppedAgent
  }

  /// Restarts the daemon or the agent. After a restart of the agent, waits until the new agent has
  /// shown the notification again.
  private func restart(
    _ restart: Restart, _ daemon: DaemonFixture, _ desktop: Desktop, shown number: Int
  ) throws -> DaemonFixture {
    switch restart {
    case .killedDaemon: return try daemon.killed()
    case .stoppedDaemon: return try daemon.restarted()
    case .killedAgent: try agents.end(SIGKILL)
    case .stoppedAgent: try agents.end(SIGTERM)
    }
    try agents.start(daemon, bus: desktop.bus.address)
    try waitUntilShown(daemon, number, times: 2)
    return daemon
  }

  /// Waits until all notifications of the application have the given state.
  private func wait(
    _ daemon: DaemonFixture, for state: ApplicationInterface.NotificationState
  ) throws {
    try waitUntil("the notifications are \(state)") {
      try daemon.notifications(of: id).allSatisfy { $0.state == state }
    }
  }

  @Test("A notification is shown with title and body, and does not wake the application")
  func shown() throws {
    let desktop = try Desktop()
    let daemon = try daemon(desktop.bus.address)
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    let listener = try TestProcess(
      "/usr/bin/dbus-monitor",
      ["dbus-monitor", "--address", desktop.bus.address, "member=Notify"]
    ) { $0.environment = desktop.bus.environment }
    while try !listener.nextLine().contains("NameLost") {}
    let time = WallClockTime(in: 1)
    try daemon.keepsStill(application) {
      let number = try daemon.post(id, "New mail", body: "from <Ann>", sound: "bell", at: time)
      try monitor.fires(id, number)
      try wait(daemon, for: .presented)
      #expect(time.hasPassed)
    }
    #expect(try desktop.counts() == .init(displayed: 1))
    var said: [String] = []
    // Reads up to the last argument of the call Notify: the duration for which the notification is
    // shown.
    while said.last?.hasPrefix("   int32 ") != true { said.append(try listener.nextLine()) }
    let words = said.joined(separator: "\n")
    #expect(words.contains("\"New mail\""), "\(words)")
    #expect(words.contains("\"from &lt;Ann&gt;\""), "\(words)")
    // dunst does not list sound among its capabilities, so the agent requests no sound.
    #expect(!words.contains("\"bell\""), "\(words)")
  }

  @Test("If the user chooses a notification, a suspended application is activated and receives it")
  func chosen() throws {
    let desktop = try Desktop()
    let daemon = try daemon(desktop.bus.address)
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    let number = try daemon.post(id, "New mail")
    try wait(daemon, for: .presented)
    #expect(try daemon.state(of: application.pid) == .stopped)
    try desktop.control("action", "0")
    try monitor.transition(id, to: .active)
    // The application receives two callbacks and the chosen notification.
    var kinds: [String] = []
    var chosen: [Int] = []
    while kinds.count + chosen.count < 3 {
      let event = try application.nextEvent()
      if case .string(let kind)? = event["parameters"]?["callback"]?["kind"] { kinds.append(kind) }
      guard let told = event["parameters"]?["notification"], told["chosen"] == true,
        case .integer(let id)? = told["notification"]?["id"]
      else { continue }
      chosen.append(Int(id))
    }
    #expect(kinds == ["willEnterForeground", "didBecomeActive"])
    #expect(chosen == [number])
    #expect(try daemon.state(of: application.pid) != .stopped)
  }

  @Test(
      """
      The user's choice of a notification launches its application if it does not run. The launch \
      reason is notification, and the application receives the notification after it registers
      """)
  func launched() throws {
    let desktop = try Desktop()
    let programs = TemporaryDirectory(mode: 0o755)
    programs.write("application.py", try Programs.resource("application.py"))
    mkfifo(programs.file("in"), 0o600)
    mkfifo(programs.file("out"), 0o600)
    let script = "exec /usr/bin/python3 -I -u \(programs.file("application.py"))"
      + " $TASKSCHEDD_SOCKET \(id) < \(programs.file("in")) > \(programs.file("out"))"
    let manifest = "command = [\"/bin/sh\", \"-c\", \"\(script)\"]\nname = \"Mail\""
    let daemon = try daemon(desktop.bus.address, manifests: [(id, manifest)])
    let writer = try daemon.shell("exec cat > \(programs.file("in"))")
    let reader = try daemon.shell("exec cat \(programs.file("out"))")
    let number = try daemon.post(id, "New mail")
    try wait(daemon, for: .presented)
    #expect(try daemon.application(id).state == .notRunning)
    try desktop.control("action", "0")
    var events: [JSONValue] = []
    while events.count < 4 {
      let line = try reader.nextLine()
      if line.hasPrefix("event ") {
        events.append(try JSONParser.parse(Array(line.dropFirst(6).utf8)))
      }
    }
    let registered = try #require(events[0]["parameters"]?["registered"], "\(events)")
    #expect(registered["launchReason"] == "notification")
    let told = events.dropFirst().compactMap { $0["parameters"]?["notification"] }
    #expect(told.count == 1 && told[0]["chosen"] == true, "\(events)")
    #expect(told[0]["notification"]?["id"] == .integer(Int64(number)))
    let kinds = events.compactMap { $0["parameters"]?["callback"]?["kind"] }
    #expect(kinds == ["didFinishLaunching", "didBecomeActive"])
    #expect(try daemon.application(id).state == .active)
    withExtendedLifetime(writer) {}
  }

  @Test("A notification that the user dismisses or that the application cancels activates nothing")
  func closed() throws {
    let desktop = try Desktop()
    let daemon = try daemon(desktop.bus.address)
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    try daemon.keepsStill(application) {
      try daemon.post(id, "Dismissed")
      try wait(daemon, for: .presented)
      try desktop.control("close")
      let cancelled = try daemon.post(id, "Cancelled")
      try wait(daemon, for: .presented)
      #expect(try desktop.counts() == .init(displayed: 1))
      try daemon.call(
        ControlInterface.CancelNotifications.self, .init(application: id, notification: cancelled))
      try waitUntil("the notification is closed") { try desktop.counts() == .init(displayed: 0) }
    }
    #expect(try daemon.application(id).state == .suspended)
    #expect(try daemon.notifications(of: id).map(\.content.title) == ["Dismissed"])
  }

  @Test("The latest 128 presented notifications are kept; the log names the removed ones")
  func latest() throws {
    let desktop = try Desktop()
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    let daemon = try daemon(desktop.bus.address, manifests: [(id, manifest)])
    for number in 1...130 { try daemon.post(id, "\(number)") }
    try wait(daemon, for: .presented)
    #expect(try daemon.notifications(of: id).map(\.id) == Array(3...130))
    for number in 1...2 {
      #expect(daemon.logged.contains("removed notification \(number): its application has more"))
    }
    try waitUntil("the removed notifications are closed") {
      let counts = try desktop.counts()
      return counts.displayed + counts.waiting == 128
    }
  }

  /// Waits until a notification has been shown the given number of times, according to the logs of
  /// this daemon and of the previous daemons together.
  private func waitUntilShown(_ daemon: DaemonFixture, _ number: Int, times: Int) throws {
    try waitUntil("notification \(number) is shown for the \(times). time") {
      daemon.logged.ranges(of: "notification \(number) is shown\n").count == times
    }
  }

  @Test(
    "§9 A notification on the screen stays operable over restarts: it can be chosen",
    arguments: Restart.allCases)
  func chosenAfterRestart(how: Restart) throws {
    let desktop = try Desktop()
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try daemon(desktop.bus.address, manifests: [(id, manifest)])
    let number = try daemon.post(id, "New mail", sound: "bell")
    try waitUntilShown(daemon, number, times: 1)
    daemon = try restart(how, daemon, desktop, shown: number)
    #expect(
      try desktop.counts() == .init(displayed: 1), "the notification is shown in its previous place"
    )
    try desktop.control("action", "0")
    try waitUntil("the choice activates the application") {
      try daemon.application(id).state == .active
    }
    #expect(try daemon.notifications(of: id).map(\.state) == [.presented])
  }

  @Test(
    "§9 A notification on the screen stays operable over restarts: it can be cancelled",
    arguments: Restart.allCases)
  func cancelledAfterRestart(how: Restart) throws {
    let desktop = try Desktop()
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try daemon(desktop.bus.address, manifests: [(id, manifest)])
    for title in ["One", "Other"] { try daemon.post(id, title) }
    try wait(daemon, for: .presented)
    daemon = try restart(how, daemon, desktop, shown: 2)
    for number in 1...2 {
      try daemon.call(
        ControlInterface.CancelNotifications.self, .init(notification: number))
      try waitUntil("the notification is closed") {
        try desktop.counts() == .init(displayed: 2 - number)
      }
    }
  }

  @Test("A notification that is cancelled while no agent runs is closed by the next agent")
  func cancelledWithoutAgent() throws {
    let desktop = try Desktop()
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    let daemon = try daemon(desktop.bus.address, manifests: [(id, manifest)])
    let number = try daemon.post(id, "Cancelled")
    try waitUntilShown(daemon, number, times: 1)
    try agents.end(SIGKILL)
    try daemon.call(ControlInterface.CancelNotifications.self, .init(notification: number))
    #expect(try desktop.counts() == .init(displayed: 1))
    try agents.start(daemon, bus: desktop.bus.address)
    try waitUntil("the notification is closed") { try desktop.counts() == .init(displayed: 0) }
  }

  @Test("A choice while no daemon runs reaches the next daemon")
  func chosenWithoutDaemon() throws {
    let desktop = try Desktop()
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try daemon(desktop.bus.address, manifests: [(id, manifest)])
    let number = try daemon.post(id, "New mail")
    try waitUntilShown(daemon, number, times: 1)
    daemon = try daemon.killed {
      try desktop.control("action", "0")
      try desktop.control("close")
    }
    try waitUntil("the choice activates the application") {
      try daemon.application(id).state == .active
    }
    #expect(try desktop.counts() == .init(displayed: 0), "the notification is not shown again")
  }

  @Test("A notification that the user has dismissed is not shown again after a restart")
  func dismissedBeforeRestart() throws {
    let desktop = try Desktop()
    let manifest = "command = [\"/bin/sleep\", \"1000\"]"
    var daemon = try daemon(desktop.bus.address, manifests: [(id, manifest)])
    try daemon.post(id, "Dismissed")
    try wait(daemon, for: .presented)
    try desktop.control("close")
    // Once "Kept" is shown, the daemon knows of the dismissal, because the agent reports the
    // dismissal before it shows "Kept".
    try daemon.post(id, "Kept")
    try wait(daemon, for: .presented)
    // The agent ends first. Otherwise, it could attach to the new daemon, and also report that
    // "Kept" is shown.
    try agents.end(SIGTERM)
    daemon = try daemon.restarted()
    try agents.start(daemon, bus: desktop.bus.address)
    try waitUntilShown(daemon, 2, times: 2)
    #expect(try desktop.counts() == .init(displayed: 1))
    #expect(daemon.logged.ranges(of: "notification 1 is shown\n").count == 1)
  }

  @Test("Without a desktop, a notification is kept, and shown when a desktop appears")
  func appears() throws {
    let folder = TemporaryDirectory()
    let path = folder.file("bus")
    let daemon = try daemon("unix:path=\(path)")
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    try daemon.keepsStill(application) {
      for title in ["First", "Second"] { try daemon.post(id, title) }
      #expect(try daemon.notifications(of: id).map(\.state) == [.fired, .fired])
      let desktop = try Desktop(isServing: false, busPath: path)
      try desktop.startService()
      try wait(daemon, for: .presented)
      #expect(try desktop.counts() == .init(displayed: 2))
    }
  }

  @Test("A notification service that hangs, or dies during a call, does not block the daemon")
  func hanging() throws {
    let desktop = try Desktop()
    let daemon = try daemon(desktop.bus.address)
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    try daemon.post(id, "Before")
    try wait(daemon, for: .presented)
    desktop.sendService(signal: SIGSTOP)
    let ids = try (0..<50).map { try daemon.post(id, "While it hangs: \($0)") }
    let busy = try TestApplication(daemon, "org.test.busy")
    try busy.registered()
    for _ in 0..<100 { #expect(try busy.end(9).errorName == "UnknownTask") }
    #expect(try daemon.notifications(of: id).count { $0.state == .fired } == ids.count)
    desktop.endService()
    for _ in 0..<100 { #expect(try busy.end(9).errorName == "UnknownTask") }
    try desktop.startService()
    try wait(daemon, for: .presented)
    #expect(try daemon.state(of: application.pid) == .stopped)
    let counts = try desktop.counts()
    #expect(counts.displayed + counts.waiting >= 1)
  }
}

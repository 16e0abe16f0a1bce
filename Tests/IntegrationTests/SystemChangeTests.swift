import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §10 with changes that operators and users post. `SystemChangeProvidersTests` and others
/// test the changes of the machine. `SystemdTests` tests the same changes with an installed daemon.
@Suite("§10: System changes")
struct SystemChangeTests {
  private let id = "org.test.changes"
  private let nobody: UInt32 = 65534

  private let startDay = WallClockTime.localDay()

  private func held(_ daemon: DaemonFixture, _ id: String? = nil) throws -> Int? {
    try daemon.applications().first { $0.application == id ?? self.id }?.instance?.heldChanges
  }

  /// Returns whether the daemon holds this number of changes for a suspended application. If a day
  /// has begun since the start of the test, the daemon may hold this change as well.
  private func holds(_ count: Int, _ daemon: DaemonFixture, _ id: String? = nil) throws -> Bool {
    let held = try held(daemon, id)
    return held == count || (held == count + 1 && WallClockTime.localDay() != startDay)
  }

  private func active(_ daemon: DaemonFixture) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    #expect(try application.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    return application
  }

  @Test("A running application gets custom changes of an operator at once")
  func running() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    try daemon.post(change: "dock", "in")
    try daemon.post(change: "dock", "out")
    try daemon.post(change: "lid", nil)
    #expect(try application.nextSystemChanges() == ["dock=in"])
    #expect(try application.nextSystemChanges() == ["dock=out"])
    #expect(try application.nextSystemChanges() == ["lid"])
    // The application also receives changes while it runs in the background.
    try application.begin()
    try daemon.sendToBackground(id)
    #expect(try application.callbackKinds(2) == ["willResignActive", "didEnterBackground"])
    try daemon.post(change: "dock", "in")
    #expect(try application.nextSystemChanges() == ["dock=in"])
    #expect(try holds(0, daemon))
  }

  @Test(
      """
      A suspended application receives the newest change of each kind later, and no change resumes \
      it
      """)
  func held() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    try daemon.keepsStill(application) {
      for value in ["1", "2", "3"] { try daemon.post(change: "dock", value) }
      #expect(try holds(1, daemon))
      try daemon.post(change: "lid", "closed")
      #expect(try holds(2, daemon))
      try daemon.post(change: "dock", "4")
      #expect(try holds(2, daemon))
    }
    try daemon.activate(id)
    #expect(try application.nextSystemChanges() == ["lid=closed", "dock=4"])
    #expect(try holds(0, daemon))
  }

  @Test(
      """
      An application receives its held changes together at the next resume to the foreground: \
      system changes, willEnterForeground, didBecomeActive
      """)
  func foreground() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    for name in ["e", "d", "c", "b", "a"] { try daemon.post(change: name, "1") }
    try daemon.activate(id)
    #expect(try application.nextSystemChanges() == ["e=1", "d=1", "c=1", "b=1", "a=1"])
    #expect(try application.callbackKinds(2) == ["willEnterForeground", "didBecomeActive"])
    try daemon.post(change: "a", "2")
    #expect(
      try application.nextSystemChanges() == ["a=2"], "the application receives no change twice")
  }

  @Test("Held changes come before the keep-alive handler is called, and are held again afterwards")
  func background() throws {
    let daemon = try DaemonFixture(
      .init(
        policy: [("KeepAliveMinimum", "300ms"), ("KeepAliveHandlerTime", "250ms")],
        manifests: [(id, "background-modes = [\"voip\"]")]))
    let monitor = try Monitor(daemon)
    let application = try active(daemon)
    let answer = try application.call("SetKeepAliveTimeout", ["seconds": 2.5])
    #expect(answer.errorName == nil, "\(answer)")
    try daemon.sendToBackground(id)
    #expect(try application.callbackKinds(2) == ["willResignActive", "didEnterBackground"])
    try monitor.transition(id, to: .suspended)
    try daemon.post(change: "dock", "in")
    try daemon.post(change: "lid", "closed")
    #expect(try daemon.application(id).state == .suspended)
    #expect(try holds(2, daemon))
    #expect(try application.nextSystemChanges() == ["dock=in", "lid=closed"])
    #expect(try application.nextCallback().kind == "keepAlive")
    try monitor.transition(id, to: .suspended)
    try daemon.post(change: "lid", "open")
    #expect(try daemon.application(id).state == .suspended)
    #expect(try application.nextSystemChanges() == ["lid=open"])
    #expect(try application.nextCallback().kind == "keepAlive")
  }

  @Test(
    "Held changes come before all other events when the user chooses a notification",
    .enabled(if: Desktop.missing == nil, Comment(rawValue: Desktop.missing ?? "possible")))
  func chosen() throws {
    let desktop = try Desktop()
    let daemon = try DaemonFixture()
    let agents = SessionAgents()
    try agents.start(daemon, bus: desktop.bus.address)
    defer { withExtendedLifetime(agents) {} }
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    try daemon.keepsStill(application) {
      try daemon.post(change: "dock", "in")
      try daemon.post(id, "Choose me")
      try waitUntil("the notification is shown") {
        try daemon.notifications(of: id).map(\.state) == [.presented]
      }
      #expect(try holds(1, daemon))
    }
    try desktop.control("action", "0")
    #expect(try application.nextSystemChanges() == ["dock=in"])
  }

  @Test("An application that registers later gets no earlier change")
  func late() throws {
    let daemon = try DaemonFixture()
    try daemon.post(change: "dock", "in")
    let application = try active(daemon)
    try daemon.post(change: "dock", "out")
    #expect(try application.nextSystemChanges() == ["dock=out"])
  }

  // MARK: Permissions and invalid changes

  @Test(
    "A custom change of a plain user reaches only that user's own applications",
    .enabled(if: geteuid() == 0, "only root can run other users' programs"))
  func plainUser() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let roots = try active(daemon)
    let suspended = try daemon.suspended("org.test.suspended", monitor)
    let own = try TestApplication(daemon, "org.test.own", uid: nobody)
    try own.registered()
    #expect(try own.callbackKinds(2) == ["didFinishLaunching", "didBecomeActive"])
    let user = try OtherUser(daemon, uid: nobody)
    let posted = try user.call(
      try user.open(), "org.taskschedd.Control.PostSystemChange", ["name": "dock", "value": "own"])
    #expect(posted.errorName == nil, "\(posted)")
    #expect(try own.nextSystemChanges() == ["dock=own"])
    #expect(try holds(0, daemon, "org.test.suspended"))
    try daemon.post(change: "dock", "all")
    #expect(try own.nextSystemChanges() == ["dock=all"])
    // The user's application has another seat, so the first application is still in the foreground.
    #expect(try roots.nextSystemChanges() == ["dock=all"])
    let count = try daemon.keepsStill(suspended) { try held(daemon, "org.test.suspended") }
    #expect(count == 1)
  }

  @Test("§15: Names and values are checked, and an error names the field")
  func input() throws {
    let daemon = try DaemonFixture()
    let application = try active(daemon)
    let long = String(repeating: "a", count: 65)
    let wrong: [(JSONValue, String)] = [
      (["name": ""], "name"), (["name": "a b"], "name"), (["name": "a/b"], "name"),
      (["name": "ä"], "name"), (["name": .string(long)], "name"),
      (["name": "a", "value": "b\nc"], "value"), (["name": "a", "value": "\u{7f}"], "value"),
      (["name": "a", "value": .string(String(repeating: "x", count: 257))], "value"),
    ]
    for (parameters, field) in wrong {
      let answer = try application.call("org.taskschedd.Control.PostSystemChange", parameters)
      #expect(answer.errorName == "InvalidSystemChange", "\(parameters): \(answer)")
      #expect(answer["parameters"]?["parameter"] == .string(field), "\(answer)")
    }
    for (parameters, field) in [
      ([:], "name"), (["name": 1], "name"), (["name": "a\u{0}"], "name"),
    ] as [(JSONValue, String)] {
      let answer = try application.call("org.taskschedd.Control.PostSystemChange", parameters)
      #expect(answer.errorName == "InvalidParameter", "\(parameters): \(answer)")
      #expect(answer["parameters"]?["parameter"] == .string(field))
    }
    let longest = String(repeating: "a", count: 64), value = String(repeating: "ä", count: 128)
    try daemon.post(change: longest, value)
    #expect(try application.nextSystemChanges() == ["\(longest)=\(value)"])
  }

  @Test("The daemon remembers at most MaxCustomChanges names of each user")
  func quota() throws {
    let daemon = try DaemonFixture(.init(policy: [("MaxCustomChanges", "2")]))
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    if geteuid() == 0 {
      let user = try OtherUser(daemon, uid: nobody)
      let calls = try user.open()
      func post(_ name: String) throws -> JSONValue {
        try user.call(
          calls, "org.taskschedd.Control.PostSystemChange", ["name": .string(name)])
      }
      // The suspended application belongs to another user, so it does not receive these changes.
      for name in ["x", "y", "z"] { #expect(try post(name).errorName == nil) }
    }
    for name in ["a", "b", "a"] { try daemon.post(change: name, "1") }
    let refused = #expect(throws: ControlInterface.Failure.self) {
      try daemon.post(change: "c", "1")
    }
    #expect(refused?.name.hasSuffix("QuotaExceeded") == true)
    try daemon.activate(id)
    #expect(try application.nextSystemChanges() == ["b=1", "a=1"])
  }

  /// Posts 10,000 changes, as fast as it can.
  private static let flood = """
    import json, os, socket
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"])
    def post(i):
        call = {"method": "org.taskschedd.Control.PostSystemChange",
                "parameters": {"name": "dock", "value": str(i)}}
        return json.dumps(call).encode() + b"\\0"
    print("floods", flush=True)
    for first in range(0, 10000, 500):
        s.sendall(b"".join(post(first + i) for i in range(500)))
        answers = 0
        while answers < 500:
            data = s.recv(65536)
            assert data and b"error" not in data, data
            answers += data.count(b"\\0")
    print("done", flush=True)
    input()
    """

  @Test("§15: 10,000 posts as fast as possible do not delay other users")
  func flood() throws {
    let daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let uid = geteuid() == 0 ? nobody : nil
    let suspended = try daemon.suspended("org.test.still", monitor, uid: uid)
    let application = try active(daemon)
    var slowest: UInt64 = 0
    try daemon.keepsStill(suspended) {
      let flooding = try daemon.python(Self.flood, uid: uid)
      #expect(try flooding.nextLine() == "floods")
      for _ in 0..<200 {
        let start = BootClock.now()
        #expect(try application.end(9).errorName == "UnknownTask")
        slowest = max(slowest, BootClock.now() - start)
      }
      #expect(try flooding.readLine(within: .seconds(120)) == "done")
      #expect(try holds(1, daemon, "org.test.still"))
    }
    #expect(slowest < 2_000_000_000, "one round trip took \(slowest / 1_000_000) ms")
    try daemon.activate("org.test.still")
    #expect(try suspended.nextSystemChanges() == ["dock=9999"])
  }

  @Test("§15: Changes are held in order across kill -9 of the daemon")
  func killed() throws {
    var daemon = try DaemonFixture()
    let monitor = try Monitor(daemon)
    let application = try daemon.suspended(id, monitor)
    try daemon.keepsStill(application) {
      for (name, value) in [("dock", "1"), ("lid", "1"), ("dock", "2")] {
        try daemon.post(change: name, value)
        daemon = try daemon.killed()
      }
      #expect(try holds(2, daemon))
      try daemon.post(change: "mode", "night")
      #expect(try holds(3, daemon))
    }
    try daemon.activate(id)
    // The stream ended with the previous daemon.
    try application.streamEnd()
    try application.reconnect()
    #expect(try application.nextSystemChanges() == ["lid=1", "dock=2", "mode=night"])
    #expect(try application.callbackKinds(2) == ["willEnterForeground", "didBecomeActive"])
  }
}

extension DaemonFixture {
  /// Posts a change as an operator.
  fileprivate func post(change name: String, _ value: String?) throws {
    try call(ControlInterface.PostSystemChange.self, .init(name: name, value: value))
  }
}

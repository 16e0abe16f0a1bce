import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §19, with real processes.
@Suite("§19: The application switcher")
struct SwitcherTests {
  private let first = "org.test.first"
  private let second = "org.test.second"

  private func list(
    _ daemon: DaemonFixture, _ input: ControlInterface.ListSwitcher.Input = .init()
  ) throws -> [String] {
    try daemon.call(ControlInterface.ListSwitcher.self, input).applications.map(\.application)
  }

  private func snapshot(_ application: TestApplication) throws {
    try application.process.writeLine("snapshot 200")
    #expect(try application.nextAnswer().errorName == nil)
  }

  @Test("The switcher lists the applications of the caller's seat, the most recent first")
  func order() throws {
    let daemon = try DaemonFixture()
    let one = try TestApplication.active(daemon, first)
    let two = try TestApplication.active(daemon, second)
    let background = try TestApplication(daemon, "org.test.never", "background")
    try background.registered()
    let output = try daemon.call(ControlInterface.ListSwitcher.self, .init())
    #expect(output.seat == "user-\(getuid())")
    #expect(output.applications.map(\.application) == [second, first])
    #expect(output.applications.map(\.switcherPosition) == [1, 2])
    let monitor = try Monitor(daemon)
    try daemon.activate(first)
    try monitor.transition(first, to: .active)
    #expect(try list(daemon) == [first, second])
    try one.process.writeLine("exit 0")
    try monitor.end(first)
    #expect(try list(daemon) == [second], "no manifest launches it again")
    withExtendedLifetime((one, two, background)) {}
  }

  @Test("Seat, owner and all select other applications")
  func selection() throws {
    let daemon = try DaemonFixture()
    let one = try TestApplication.active(daemon, first)
    let alone = try daemon.shell("read line")
    try daemon.adopt("org.test.alone", alone)
    let seat = try daemon.application("org.test.alone").seat
    #expect(try list(daemon) == [first])
    #expect(try list(daemon, .init(seat: seat)) == ["org.test.alone"])
    #expect(try list(daemon, .init(seat: "seat9")) == [])
    #expect(try list(daemon, .init(all: true)) == ["org.test.alone", first])
    #expect(try list(daemon, .init(owner: Int(getuid()))) == ["org.test.alone", first])
    #expect(try list(daemon, .init(owner: 4711)) == [])
    withExtendedLifetime(one) {}
  }

  @Test("An ended application that a manifest launches stays, and its activation launches it")
  func ended() throws {
    let daemon = try DaemonFixture(
      .init(manifests: [(first, #"command = ["sleep", "1000"]"#)]))
    let pid = try daemon.launch(first)
    let monitor = try Monitor(daemon)
    kill(pid, SIGKILL)
    try monitor.end(first)
    #expect(try list(daemon) == [first])
    try daemon.activate(first)
    #expect(try daemon.application(first).state == .active)
  }

  @Test(
    "A removal terminates the application, deletes its entry and its picture, and returns its end",
    arguments: [true, nil])
  func removal(byUser: Bool?) throws {
    let daemon = try DaemonFixture()
    let before = try daemon.descriptorCount()
    let application = try TestApplication.active(daemon, first)
    try snapshot(application)
    let monitor = try Monitor(daemon)
    let output = try daemon.call(
      ControlInterface.RemoveFromSwitcher.self, .init(application: first, byUser: byUser))
    let end = try #require(output.end)
    #expect(end.reason == (byUser == true ? .terminatedByUser : .terminatedByOperator))
    #expect(try list(daemon, .init(all: true)) == [])
    #expect(try daemon.application(first).snapshot == .none)
    try monitor.next(.removedFromSwitcher, of: first)
    try waitUntil("the daemon holds no more than a monitor more") {
      try daemon.descriptorCount() <= before + 1
    }
    let again = try daemon.call(
      ControlInterface.RemoveFromSwitcher.self, .init(application: first, byUser: byUser))
    #expect(again.end?.reason == end.reason, "the last end")
  }

  @Test("Monitors learn of a new, hidden and removed snapshot")
  func changes() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication.active(daemon, first)
    let monitor = try Monitor(daemon)
    for (what, words) in [
      ("200", "has a new snapshot"), ("sensitive", "hides its snapshot"),
      ("remove", "has no snapshot any more"),
    ] {
      try application.process.writeLine("snapshot \(what)")
      #expect(try application.nextAnswer().errorName == nil)
      #expect(try monitor.next(.snapshotChanged, of: first).message == "\(first) \(words)")
    }
  }

  @Test(
    "§16 A user sees and removes the user's own applications only",
    .enabled(if: geteuid() == 0, "only root starts other users' programs"))
  func otherUser() throws {
    let nobody: UInt32 = 65534
    let daemon = try DaemonFixture()
    let roots = try TestApplication.active(daemon, first)
    try snapshot(roots)
    let own = try TestApplication(daemon, second, uid: nobody)
    try own.registered()
    _ = try own.callbackKinds(2)
    try snapshot(own)
    let user = try OtherUser(daemon, uid: nobody)
    let calls = try user.open()
    func call(_ method: String, _ parameters: JSONValue) throws -> JSONValue {
      try user.call(calls, "org.taskschedd.Control.\(method)", parameters)
    }
    for parameters: JSONValue in [[:], ["all": true], ["owner": 65534]] {
      let answer = try call("ListSwitcher", parameters)
      let listed = try answer["parameters"]?["applications"]?.decode([JSONValue].self) ?? []
      #expect(listed.map { $0["application"] } == [.string(second)], "\(answer)")
    }
    #expect(try call("ListSwitcher", ["owner": 0]).errorName == "NotPermitted")
    #expect(try call("ListSwitcher", ["owner": -1]).errorName == "InvalidParameter")
    let foreign: JSONValue = ["application": .string(first)]
    #expect(try call("GetSnapshot", foreign).errorName == "UnknownApplication")
    #expect(try call("RemoveFromSwitcher", foreign).errorName == "UnknownApplication")
    #expect(
      try call("RemoveFromSwitcher", ["application": .string(first), "owner": 0]).errorName
        == "NotPermitted")
    let removed = try call("RemoveFromSwitcher", ["application": .string(second), "byUser": true])
    #expect(removed["parameters"]?["end"]?["reason"] == "terminatedByUser", "\(removed)")
    #expect(try list(daemon, .init(all: true)) == [first])
    #expect(try daemon.application(first).snapshot == .picture)
  }
}

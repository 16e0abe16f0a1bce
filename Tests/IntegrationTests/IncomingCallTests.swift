import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §13, with the real ModemManager, an emulated modem, and a session agent that the test
/// simulates (`TestAgent`). The bus has no logind, so the daemon shows calls to its own user.
/// `IncomingCallsTests` tests the users that logind reports.
@Suite(
  "§13: Incoming calls (contract.md#call-incoming)", .serialized,
  .enabled(if: ModemService.missing == nil, Comment(rawValue: ModemService.missing ?? "possible")))
struct IncomingCallTests {
  private let phone = "org.test.phone"

  /// A daemon, a modem, and an agent of the daemon's user.
  private final class Scene {
    let modem: ModemService
    private(set) var daemon: DaemonFixture
    private(set) var agent: TestAgent

    init(
      policy: [(String, String)] = [], manifests: [(String, String)] = []
    ) throws {
      modem = try ModemService()
      daemon = try DaemonFixture(
        .init(
          policy: policy, manifests: manifests, arguments: ["--system-bus", modem.bus.address]))
      agent = try TestAgent(daemon)
    }

    /// Kills the daemon, and starts another, to which a new agent attaches.
    func restartDaemon(_ body: () throws -> Void = {}) throws {
      daemon = try daemon.killed(body)
      agent = try TestAgent(daemon, takesNotices: true)
    }

    /// Waits for the order to show a call. A call is a notification with the caller's number as its
    /// title.
    func nextNotice() throws -> JSONValue {
      while let notice = try agent.nextNotice() {
        if notice["title"] == .string(ModemService.number) { return notice }
      }
      throw TestApplication.Unexpected(line: "no notification about a call")
    }

    /// Waits for the order to close a notification, and returns the id of the notification.
    func nextClosed() throws -> JSONValue? { try agent.nextOrder("close")?["id"] }

    /// Waits until the newest call of the modem has the given state (MMCallState of ModemManager).
    func wait(for state: Int) throws {
      try waitUntil("the call has the state \(state)") { try modem.state() == state }
    }
  }

  private static let active = 4
  private static let terminated = 7

  private func id(_ notice: JSONValue) throws -> Int64 {
    guard case .integer(let id)? = notice["id"] else {
      throw TestApplication.Unexpected(line: "\(notice)")
    }
    return id
  }

  private func firedAt(_ notice: JSONValue) throws -> Int64 {
    guard case .integer(let time)? = notice["firedAt"] else {
      throw TestApplication.Unexpected(line: "\(notice)")
    }
    return time
  }

  // MARK: The notification

  @Test("An incoming call is shown as urgent, with a ringing sound that repeats and two actions")
  func shown() throws {
    let scene = try Scene()
    try scene.modem.ring()
    let notice = try scene.nextNotice()
    #expect(notice["body"] == "Incoming call")
    #expect(notice["urgency"] == "critical")
    #expect(notice["category"] == "call.incoming")
    #expect(notice["sound"] == "phone-incoming-call")
    #expect(notice["icon"] == "call-start")
    #expect(notice["application"] == "taskschedd")
    #expect(notice["applicationName"] == "Phone")
    #expect(
      notice["actions"]
        == [["id": "answer", "title": "Answer"], ["id": "decline", "title": "Decline"]])
    let next = try scene.nextNotice()
    #expect(try id(next) == id(notice))
    #expect(try firedAt(next) > firedAt(notice))
    #expect(!scene.daemon.logged.contains(ModemService.number))
    try scene.modem.accept()
    #expect(try scene.nextClosed() == .integer(id(notice)))
  }

  @Test("The end of the call by the other phone withdraws the notification")
  func ends() throws {
    let scene = try Scene()
    try scene.modem.ring()
    let notice = try scene.nextNotice()
    try scene.modem.endByOtherPhone()
    #expect(try scene.nextClosed() == .integer(id(notice)))
  }

  // MARK: Answers

  @Test(
    "The notification itself and its action answer accept the call",
    arguments: [String?.none, String?("answer")])
  func accepts(_ action: String?) throws {
    let scene = try Scene()
    try scene.modem.ring()
    let notice = try scene.nextNotice()
    try scene.agent.choose(id(notice), action: action)
    try scene.wait(for: Self.active)
    #expect(try scene.nextClosed() == .integer(id(notice)))
  }

  @Test("The action decline ends the call")
  func declines() throws {
    let scene = try Scene()
    try scene.modem.ring()
    let notice = try scene.nextNotice()
    try scene.agent.choose(id(notice), action: "decline")
    try scene.wait(for: Self.terminated)
    #expect(try scene.nextClosed() == .integer(id(notice)))
  }

  @Test(
    "A daemon that is killed while a call rings shows the call again, and its actions work",
    arguments: ["answer", "decline"])
  func killed(_ action: String) throws {
    let scene = try Scene()
    try scene.modem.ring()
    let first = try scene.nextNotice()
    try scene.restartDaemon()
    let second = try scene.nextNotice()
    #expect(try id(second) == id(first))
    #expect(try firedAt(second) > firedAt(first))
    try scene.agent.choose(id(second), action: action)
    try scene.wait(for: action == "answer" ? Self.active : Self.terminated)
    #expect(try scene.nextClosed() == .integer(id(second)))
  }

  @Test("A daemon that starts while a call rings shows the call")
  func beginsWithoutDaemon() throws {
    let scene = try Scene()
    try scene.restartDaemon { try scene.modem.ring() }
    let notice = try scene.nextNotice()
    try scene.agent.choose(id(notice), action: "decline")
    try scene.wait(for: Self.terminated)
  }

  // MARK: CallApplication

  @Test("An incoming call launches CallApplication in the background, with the reason call")
  func launches() throws {
    let folder = TemporaryDirectory(mode: 0o755)
    let said = folder.file("said")
    let script = "echo $TASKSCHEDD_LAUNCH_REASON > \(said); exec sleep 1000"
    let manifest = "command = [\"/bin/sh\", \"-c\", \"\(script)\"]\nname = \"Telephone\""
    let scene = try Scene(
      policy: [("CallApplication", phone)], manifests: [(phone, manifest)])
    try scene.modem.ring()
    let notice = try scene.nextNotice()
    #expect(notice["application"] == .string(phone))
    #expect(notice["applicationName"] == "Telephone")
    try waitUntil("the application is launched") {
      (try? FileDescriptor.open(reading: said).readToEnd()) == Array("call\n".utf8)
    }
    let application = try scene.daemon.application(phone)
    #expect(application.instance?.launchReason == .call)
    #expect([.background, .suspended].contains(application.state))
  }

  @Test("An incoming call wakes CallApplication if it is suspended; the answer activates it")
  func wakes() throws {
    let scene = try Scene(policy: [("CallApplication", phone)])
    let monitor = try Monitor(scene.daemon)
    let application = try scene.daemon.suspended(phone, monitor)
    try scene.modem.ring()
    #expect(try monitor.transition(phone, to: .background).cause == "call")
    #expect(try scene.daemon.state(of: application.pid) != .stopped)
    let notice = try scene.nextNotice()
    try scene.agent.choose(id(notice), action: "answer")
    try monitor.transition(phone, to: .active)
    try scene.wait(for: Self.active)
  }
}

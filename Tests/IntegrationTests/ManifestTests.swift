import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

private let userNobody: User? = (try? Users.user(named: "nobody")) ?? nil

/// The effect of a manifest's user, seat and multitasking keys, with real programs.
@Suite("Manifests: user, working-directory, environment, multitasking, seat")
struct ManifestTests {
  private static let report = """
    import json, os
    status = dict(l.split(":", 1) for l in open("/proc/self/status") if ":" in l)
    print(json.dumps({
        "uids": os.getresuid(), "gids": os.getresgid(), "groups": sorted(os.getgroups()),
        "directory": os.getcwd(), "environment": dict(os.environ),
        "capabilities": [status[k].strip() for k in ("CapPrm", "CapEff", "CapAmb")],
        "session": os.getsid(0) == os.getpid(),
        "descriptors": sorted(int(n) for n in os.listdir("/proc/self/fd"))[:3]}))
    """

  @Test(
      """
      A program runs as the manifest's user: with that user's groups, its directory and \
      environment, and without capabilities
      """,
    .enabled(if: geteuid() == 0, "only root can run other users' programs"),
    .enabled(if: userNobody != nil, "there is no user 'nobody' on this machine"))
  func user() throws {
    let nobody = try #require(userNobody)
    let folder = TemporaryDirectory(mode: 0o755)
    folder.write("report.py", Self.report)
    mkfifo(folder.file("fifo"), 0o622)
    chmod(folder.file("fifo"), 0o622)
    let manifest = """
      command = ["/bin/sh", "-c", \
      "exec /usr/bin/python3 -I \(folder.file("report.py")) > \(folder.file("fifo"))"]
      user = "nobody"
      working-directory = "/usr"
      environment = { COLOUR = "green" }
      """
    let daemon = try DaemonFixture(.init(manifests: [("org.test.users", manifest)]))
    let reader = try daemon.shell("exec cat \(folder.file("fifo"))")
    let pid = try daemon.launch("org.test.users")
    let seen = try JSONParser.parse(Array(try reader.nextLine().utf8))
    let uid = JSONValue.integer(Int64(nobody.uid)), gid = JSONValue.integer(Int64(nobody.gid))
    #expect(seen["uids"] == .array([uid, uid, uid]))
    #expect(seen["gids"] == .array([gid, gid, gid]))
    let groups = Users.groups(of: nobody).sorted().map { JSONValue.integer(Int64($0)) }
    #expect(seen["groups"] == .array(groups))
    #expect(seen["directory"] == "/usr")
    #expect(seen["capabilities"] == .array(Array(repeating: "0000000000000000", count: 3)))
    #expect(seen["session"] == .bool(true))
    #expect(seen["descriptors"] == [0, 1, 2])
    let environment = try #require(seen["environment"])
    #expect(environment["COLOUR"] == "green")
    #expect(environment["USER"] == "nobody")
    #expect(environment["HOME"] == .string(nobody.home))
    #expect(environment["TASKSCHEDD_APPLICATION"] == "org.test.users")
    #expect(environment["TASKSCHEDD_LAUNCH_REASON"] == "operator")
    #expect(environment["TASKSCHEDD_SOCKET"] == .string(daemon.socketPath))
    #expect(
      environment["NOTIFY_SOCKET"] == nil, "the program does not inherit the daemon's variable")
    #expect(pid > 0)
  }

  @Test(
      """
      An application that opts out of multitasking ends with optedOut when it is sent to the \
      background; other applications continue
      """)
  func optedOut() throws {
    let sleeper = "command = [\"/bin/sleep\", \"1000\"]"
    let daemon = try DaemonFixture(
      .init(manifests: [
        ("org.test.modest", "\(sleeper)\nmultitasking = false"), ("org.test.other", sleeper),
      ]))
    let monitor = try Monitor(daemon)
    try daemon.launch("org.test.modest")
    #expect(throws: ControlInterface.Failure.self) {
      try daemon.launch("org.test.other", background: true)
      try daemon.launch("org.test.modest", background: true)
    }
    try daemon.activate("org.test.other")
    #expect(try monitor.end("org.test.modest") == "optedOut")
    #expect(try daemon.application("org.test.modest").state == .notRunning)
    #expect(try daemon.application("org.test.modest").multitasking == false)
    try daemon.sendToBackground("org.test.other")
    try monitor.transition("org.test.other", to: .suspended)
    let refusal = ControlInterface.Failure.multitaskingNotSupported(
      application: "org.test.modest")
    #expect(throws: refusal) {
      try daemon.launch("org.test.modest", background: true)
    }
  }

  @Test("Each of two seats has an active application; a third one displaces that at its own seat")
  func seats() throws {
    func manifest(_ seat: String) -> String {
      "command = [\"/bin/sleep\", \"1000\"]\nseat = \"\(seat)\""
    }
    let daemon = try DaemonFixture(
      .init(manifests: [
        ("org.test.left", manifest("seat0")), ("org.test.right", manifest("seat1")),
        ("org.test.third", manifest("seat1")),
      ]))
    try daemon.launch("org.test.left")
    try daemon.launch("org.test.right")
    #expect(try daemon.application("org.test.left").state == .active)
    #expect(try daemon.application("org.test.right").state == .active)
    try daemon.launch("org.test.third")
    #expect(try daemon.application("org.test.left").state == .active)
    #expect([.background, .suspended].contains(try daemon.application("org.test.right").state))
    #expect(try daemon.application("org.test.third").seat == "seat1")
  }

  @Test(
    "Users without a seat do not send each other's applications to the background",
    .enabled(if: geteuid() == 0, "only root can run other users' programs"))
  func usersSeats() throws {
    let daemon = try DaemonFixture()
    let programs = try [65534, 65533, 65532].map { uid in try daemon.shell("read x", uid: uid) }
    for (number, program) in programs.enumerated() {
      try daemon.adopt("org.test.p\(number)", program)
    }
    #expect(try daemon.applications().map(\.state) == [.active, .active, .active])
    #expect(Set(try daemon.applications().map(\.seat)).count == 3)
  }
}

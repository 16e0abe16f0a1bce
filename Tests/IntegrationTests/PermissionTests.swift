import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §16, with processes of another user.
@Suite(
  "§16: Who may do what",
  .enabled(if: geteuid() == 0, "only root can run other users' programs"))
struct PermissionTests {
  private let nobody: UInt32 = 65534
  private let roots = "org.test.roots"
  private func control(_ method: String) -> String { "org.taskschedd.Control.\(method)" }

  @Test(
    "A daemon refuses a process that it may not stop or end, such as root's, and nothing changes")
  func unmanageable() throws {
    let daemon = try DaemonFixture(uid: nobody)
    let application = try TestApplication(daemon, roots)
    let refusal = try application.nextEvent()
    #expect(refusal.errorName == "NotManageable")
    guard case .string(let reason)? = refusal["parameters"]?["reason"] else {
      throw TestApplication.Unexpected(line: "\(refusal)")
    }
    #expect(reason.contains("runs as user 0; this daemon runs as user \(nobody)"))
    let program = try daemon.shell("read line")
    #expect {
      try daemon.adopt("org.test.adopted", program)
    } throws: { error in
      guard case .invalidProcess(let pid, let reason)? = error as? ControlInterface.Failure
      else { return false }
      return pid == Int(program.pid) && reason.contains("may stop and kill")
    }
    #expect(try daemon.applications().isEmpty)
    // A process of the daemon's own user may register itself.
    let own = try TestApplication(daemon, "org.test.nobodys", uid: nobody)
    try own.registered()
  }

  @Test(
    """
    Root is an operator. Each other user may operate its own applications. For this user, \
    applications of other users do not exist
    """)
  func otherUser() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(roots, program)
    let other = try TestApplication(daemon, "org.test.nobodys", uid: nobody)
    try other.registered()
    _ = try other.callbackKinds(2)
    let list = try other.call(control("ListApplications"))
    guard case .array(let seen)? = list["parameters"]?["applications"] else {
      throw TestApplication.Unexpected(line: "\(list)")
    }
    #expect(seen.map { $0["application"] } == ["org.test.nobodys"])
    for method in ["GetApplication", "Activate", "SendToBackground", "Terminate"] {
      let parameters: JSONValue = ["application": .string(roots)]
      #expect(try other.call(control(method), parameters).errorName == "UnknownApplication")
      let owned: JSONValue = ["application": .string(roots), "owner": 0]
      #expect(try other.call(control(method), owned).errorName == "NotPermitted")
    }
    #expect(try other.call(control("Reload")).errorName == "NotPermitted")
    #expect(try daemon.application(roots).state == .active, "each user has a separate seat")
    let own: JSONValue = ["application": "org.test.nobodys"]
    #expect(try other.call(control("Deactivate"), own).errorName == nil)
    #expect(try other.callbackKinds(1) == ["willResignActive"])
    #expect(try daemon.application("org.test.nobodys").owner == 65534)
  }

  @Test("Root may adopt a user's process; another user may not")
  func adoption() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    let thief = try daemon.python(
      """
      import array, json, os, socket, sys
      s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"])
      call = {"method": "org.taskschedd.Control.Adopt",
              "parameters": {"application": "org.test.stolen", "processFileDescriptor": 0}}
      fd = os.pidfd_open(int(sys.argv[1]))
      socket.send_fds(s, [json.dumps(call).encode() + b"\\0"], [fd])
      print(json.loads(s.recv(4096).rstrip(b"\\0"))["error"], flush=True)
      """, ["\(program.pid)"], uid: nobody)
    #expect(try thief.nextLine() == "org.taskschedd.Control.NotPermitted")
    #expect(try daemon.applications().isEmpty)
    let users = try daemon.shell("read line", uid: nobody)
    try daemon.adopt("org.test.users", users)
    #expect(try daemon.application("org.test.users").owner == 65534)
  }

  @Test("A process acts for its own application or instance, and for no other")
  func descendants() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, "org.test.mail")
    try application.registered()
    let answer = try application.callFromChild("BeginBackgroundTask", ["name": "childs"])
    #expect(answer.errorName == nil)
    #expect(try daemon.application("org.test.mail").instance?.tasks.map(\.name) == ["childs"])
    let stranger = try TestApplication(daemon, "org.test.stranger", "silent")
    #expect(try stranger.call("GetStatus").errorName == "NotRegistered")
    #expect(try stranger.call("EndBackgroundTask", ["task": 1]).errorName == "NotRegistered")
    try stranger.process.writeLine("stream org.test.mail")
    #expect(try stranger.nextEvent().errorName == "AlreadyRunning")
    try application.process.writeLine("stream org.test.other")
    var errors: [String] = []
    while errors.isEmpty { if let name = try application.nextEvent().errorName { errors = [name] } }
    #expect(errors == ["WrongApplication"])
  }
}

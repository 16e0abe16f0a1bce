import Glibc
import LinuxSystem
import TestSupport
import Testing

/// A group that exists on every Debian system.
private let operatorGroup: UInt32? = (try? Users.group(named: "users")) ?? nil

/// Contract §16: the operators' group.
@Suite(
  "§16: Operators: members of the configured group",
  .enabled(if: geteuid() == 0, "only root can run other users' programs"),
  .enabled(if: operatorGroup != nil, "there is no group 'users' on this machine"))
struct OperatorTests {
  private let nobody: UInt32 = 65534
  private let id = "org.test.roots"

  /// For each input line, calls the method that the line names, and prints `done` or the name of
  /// the error. The argument is the application for all calls.
  private static let caller = """
    import json, os, socket, sys
    s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"])
    for line in sys.stdin:
        parameters = {"application": sys.argv[1]} if line.strip() != "Reload" else {}
        call = {"method": "org.taskschedd.Control." + line.strip(), "parameters": parameters}
        s.sendall(json.dumps(call).encode() + b"\\0")
        answer = b""
        while not answer.endswith(b"\\0"): answer += s.recv(65536)
        print(json.loads(answer[:-1]).get("error", "done").split(".")[-1], flush=True)
    """

  private func answers(_ caller: TestProcess, _ methods: [String]) throws -> [String] {
    try methods.map { method in
      try caller.writeLine(method)
      return try caller.nextLine()
    }
  }

  @Test("A member by a supplementary group may operate other users' applications; others may not")
  func members() throws {
    let daemon = try DaemonFixture(.init(options: [("operator-group", "\"users\"")]))
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program)
    let group = try #require(operatorGroup)
    let stranger = try daemon.python(Self.caller, [id], uid: nobody)
    #expect(
      try answers(stranger, ["GetApplication", "Terminate", "Reload"])
        == ["UnknownApplication", "UnknownApplication", "NotPermitted"])
    #expect(try daemon.application(id).state == .active)
    let member = try daemon.python(Self.caller, [id], uid: nobody, groups: [group])
    #expect(
      try answers(member, ["GetApplication", "SendToBackground", "Activate", "Reload"])
        == ["done", "done", "done", "done"])
    #expect(try answers(member, ["Terminate"]) == ["done"])
    #expect(try daemon.application(id).lastEnd?.reason == .terminatedByOperator)
  }

  @Test("A member by the primary group is an operator, too")
  func primaryGroup() throws {
    let daemon = try DaemonFixture(.init(options: [("operator-group", "\"users\"")]))
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program)
    let member = try daemon.python(Self.caller, [id], uid: nobody, gid: operatorGroup)
    #expect(
      try answers(member, ["GetApplication", "Terminate", "Reload"]) == ["done", "done", "done"])
  }

  @Test("The daemon's own user and root operate an application; another user does not")
  func ownUser() throws {
    let daemon = try DaemonFixture(uid: nobody)
    let program = try daemon.shell("read line", uid: nobody)
    try daemon.adopt(id, program)
    for (uid, answers) in [
      (0, ["done", "done"]), (nobody, ["done", "done"]),
      (65533, ["UnknownApplication", "NotPermitted"]),
    ] as [(UInt32, [String])] {
      let caller = try daemon.python(Self.caller, [id], uid: uid)
      #expect(try self.answers(caller, ["GetApplication", "Reload"]) == answers, "user \(uid)")
    }
  }

  @Test("A reload that names another group applies to existing connections")
  func changed() throws {
    let daemon = try DaemonFixture(.init(options: [("operator-group", "\"users\"")]))
    let program = try daemon.shell("read line")
    try daemon.adopt(id, program)
    let member = try daemon.python(
      Self.caller, [id], uid: nobody, groups: [try #require(operatorGroup)])
    #expect(try answers(member, ["GetApplication"]) == ["done"])
    daemon.folder.write("taskschedd.toml", "operator-group = \"\"\n")
    #expect(try answers(member, ["Reload"]) == ["done"])
    #expect(try answers(member, ["GetApplication"]) == ["UnknownApplication"])
  }
}

import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §16: a user who is not an operator calls every method of the interface Control.
@Suite(
  "§16: Users may operate their own applications; those of others are hidden",
  .enabled(if: geteuid() == 0, "only root can run other users' programs"))
struct OtherUserTests {
  private let nobody: UInt32 = 65534
  private let roots = "org.test.roots"
  private let own = "org.test.own"

  /// The arguments are an application that runs, one that has a manifest, and one that does not
  /// exist.
  @Test(
    "No method reaches another user's application, and no reply reveals that it exists",
    arguments: ["org.test.roots", "org.test.manifest", "org.test.none"])
  func everyMethod(application: String) throws {
    let manifest = "command = [\"sleep\", \"1000\"]"
    let daemon = try DaemonFixture(.init(manifests: [("org.test.manifest", manifest)]))
    let program = try daemon.shell("read line")
    try daemon.adopt(roots, program)
    let before = try daemon.applications().map(\.comparable)
    let user = try OtherUser(daemon, uid: nobody)
    for method in ControlInterface.MethodName.allCases {
      let connection = try user.open()
      var parameters: JSONValue = ["application": .string(application)]
      let expected: JSONValue
      switch method {
      case .postNotification:
        parameters = ["application": .string(application), "content": ["title": "hear"]]
        expected = ["application": .string(application), "nearest": nil]
      case .postSystemChange: (parameters, expected) = (["name": "dock"], [:])
      case .remoteControl: (parameters, expected) = (["command": "play"], [:])
      case .postLocation:
        let place: JSONValue = ["latitude": 1, "longitude": 2, "measuredAtUSec": 0]
        (parameters, expected) = (["location": place], [:])
      case .setLocationAuthorization:
        parameters = ["application": .string(application), "authorization": "authorized"]
        expected = ["application": .string(application), "nearest": nil]
      case .forgetLocation, .listNotifications, .cancelNotifications, .getApplication, .explain,
        .launch, .activate, .deactivate, .sendToBackground, .terminate, .warnMemory, .getSnapshot,
        .removeFromSwitcher:
        expected = ["application": .string(application), "nearest": nil]
      case .reload: (parameters, expected) = ([:], ["application": nil])
      case .adopt: continue  // `PermissionTests.adoption` tests this method.
      case .listApplications:
        (parameters, expected) = ([:], ["applications": [], "sessionAgents": []])
      case .listSwitcher:
        (parameters, expected) = ([:], ["seat": "user-65534", "applications": []])
      case .monitor: (parameters, expected) = ([:], ["ready": true])
      case .listSessions: (parameters, expected) = ([:], ["sessions": []])
      case .getMemory, .getLocation: continue  // The end of this test calls them.
      case .getLog: expected = ["records": []]
      case .getSettings: continue  // Every user may read the settings.
      }
      let answer = try user.call(
        connection, method.rawValue, parameters, more: method == .monitor)
      let told = answer["parameters"] ?? [:]
      #expect(told.withoutNulls == expected.withoutNulls, "\(method): \(answer)")
    }
    let memory = try user.call(user.open(), ControlInterface.MethodName.getMemory.rawValue, [:])
    #expect(memory["parameters"]?["applications"] == [])
    let location = try user.call(user.open(), ControlInterface.MethodName.getLocation.rawValue, [:])
    #expect(location["parameters"]?["uses"] == [])
    #expect(try daemon.applications().map(\.comparable) == before)
  }

  @Test("The daemon suggests another user's id to an operator only if the call names that owner")
  func nearest() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, own, uid: nobody)
    try application.registered()
    let client = try RawClient(daemon)
    func nearest(_ parameters: String) throws -> JSONValue? {
      let answer = try client.call(
        #"{"method":"org.taskschedd.Control.GetApplication","parameters":{\#(parameters)}}"#)
      #expect(answer?.errorName == "UnknownApplication")
      return answer?["parameters"]?["nearest"]
    }
    #expect(try nearest(#""application":"org.test.onw""#) ?? .null == .null)
    #expect(try nearest(#""application":"org.test.onw","owner":65534"#) == .string(own))
  }

  @Test("§16 A user sees the log of the user's own applications, and of no others")
  func log() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(roots, program)
    let own = try daemon.shell("read line", uid: nobody)
    try daemon.adopt("org.test.nobodys", own)
    let user = try OtherUser(daemon, uid: nobody)
    let calls = try user.open()
    let method = ControlInterface.MethodName.getLog.rawValue
    for parameters: JSONValue in [[:], ["owner": .integer(Int64(nobody))], ["lines": 7]] {
      let answer = try user.call(calls, method, parameters)
      guard case .array(let records)? = answer["parameters"]?["records"] else {
        throw TestApplication.Unexpected(line: "\(answer)")
      }
      #expect(!records.isEmpty)
      #expect(records.allSatisfy { $0["application"] == "org.test.nobodys" }, "\(answer)")
    }
    #expect(try user.call(calls, method, ["owner": 0]).errorName == "NotPermitted")
    #expect(try user.call(calls, method, ["lines": -1]).errorName == "InvalidParameter")
    #expect(try user.call(calls, method, ["before": -1]).errorName == "InvalidParameter")
    let all = try daemon.call(ControlInterface.GetLog.self, .init()).records
    #expect(Set(all.map(\.application)) == [roots, "org.test.nobodys"], "root sees all")
  }

  @Test("A user can read and change the state of the user's own application, and terminate it")
  func ownApplication() throws {
    let daemon = try DaemonFixture()
    let user = try OtherUser(daemon, uid: nobody)
    let calls = try user.open()
    let application = try TestApplication(daemon, own, uid: nobody)
    try application.registered()
    _ = try application.callbackKinds(2)
    let parameters: JSONValue = ["application": .string(own)]
    let methods: [ControlInterface.MethodName] = [
      .getApplication, .explain, .deactivate, .activate, .sendToBackground, .terminate,
    ]
    for method in methods {
      let answer = try user.call(calls, method.rawValue, parameters)
      #expect(answer.errorName == nil, "\(method): \(answer)")
    }
    #expect(try daemon.application(own).lastEnd?.reason == .terminatedByOperator)
  }

  @Test("A monitor shows only the user's own applications, in the snapshot and in every change")
  func monitors() throws {
    let daemon = try DaemonFixture()
    let program = try daemon.shell("read line")
    try daemon.adopt(roots, program)
    let application = try TestApplication(daemon, own, uid: nobody)
    try application.registered()
    _ = try application.callbackKinds(2)
    let user = try OtherUser(daemon, uid: nobody)
    let monitor = try user.open()
    let first = try user.call(monitor, "org.taskschedd.Control.Monitor", more: true)
    #expect(first["parameters"]?["application"]?["application"] == .string(own))
    #expect(try user.next(monitor)["parameters"]?["ready"] == true)
    let all = try Monitor(daemon)
    try daemon.sendToBackground(roots)
    try all.transition(roots, to: .suspended)
    try daemon.terminate(roots)
    try all.end(roots)
    let task = try application.begin("theirs")
    let change = try user.next(monitor)["parameters"]?["change"]
    #expect(
      change?["kind"] == "taskBegan", "the monitor showed no change of another user's application")
    #expect(change?["application"] == .string(own))
    #expect(change?["task"] == .integer(Int64(task)))
  }

  @Test("A descendant that left its parent, session and group belongs to its instance")
  func detachedDescendant() throws {
    let daemon = try DaemonFixture()
    let program = """
      import json, os, socket, sys
      call = {"method": "org.taskschedd.Application.BeginBackgroundTask",
              "parameters": {"name": "grandchilds"}}
      sys.stdin.readline()
      if os.fork() == 0:
          os.setsid()
          if os.fork() == 0:
              s = socket.socket(socket.AF_UNIX); s.connect(os.environ["TASKSCHEDD_SOCKET"])
              s.sendall(json.dumps(call).encode() + b"\\0")
              print(s.recv(65536).decode().rstrip("\\0"), flush=True)
              sys.stdin.read()
          os._exit(0)
      os.wait()
      sys.stdin.read()
      """
    let parent = try daemon.python(program, uid: nobody, marker: "detached")
    try daemon.adopt("org.test.parent", parent, marker: "detached")
    try parent.writeLine("go")
    let answer = try JSONParser.parse(Array(try parent.nextLine().utf8))
    #expect(answer["parameters"]?["task"] != nil, "\(answer)")
    let tasks = try daemon.application("org.test.parent").instance?.tasks
    #expect(tasks?.map(\.name) == ["grandchilds"])
  }

  @Test("Another user's process inside an instance does not belong to it")
  func stranger() throws {
    let daemon = try DaemonFixture()
    let application = try TestApplication(daemon, own, uid: nobody)
    try application.registered()
    let stranger = try OtherUser(daemon, uid: 65533)
    let calls = try stranger.open()
    for (method, parameters) in [
      ("BeginBackgroundTask", ["name": "theirs"]), ("EndBackgroundTask", ["task": 1]),
      ("Acknowledge", ["callback": 1]), ("GetStatus", [:]),
    ] as [(String, JSONValue)] {
      let answer = try stranger.call(calls, TestApplication.fullName(method), parameters)
      #expect(answer.errorName == "NotRegistered", "\(method): \(answer)")
    }
  }
}

extension ControlInterface.Application {
  /// A text of the application without the values that change with time.
  fileprivate var comparable: String { "\(application) \(owner) \(state)" }
}

extension JSONValue {
  /// The value without members that are null, because a missing member means the same as null.
  var withoutNulls: JSONValue {
    guard case .object(let members) = self else { return self }
    return .object(members.filter { $0.value != .null })
  }
}

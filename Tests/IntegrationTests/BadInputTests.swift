import Glibc
import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §15 at the real socket.
@Suite(
  """
  §15: Bad input never crashes the daemon or changes its state. The error names the field
  """)
struct BadInputTests {
  private static let list = #"{"method":"org.taskschedd.Control.ListApplications"}"#

  /// Runs the body while an application runs. Then checks that the daemon still answers, and that
  /// the state of the application has not changed.
  private func unchanged(
    _ settings: DaemonFixture.Settings = .init(), _ body: (DaemonFixture) throws -> Void
  ) throws {
    let daemon = try DaemonFixture(settings)
    let program = try daemon.shell("read line")
    try daemon.adopt("org.test.program", program, background: true, task: "work")
    let before = try withoutTime(daemon.applications())
    try body(daemon)
    #expect(try withoutTime(daemon.applications()) == before)
    #expect(try daemon.process.hasEnded() == false)
  }

  private func withoutTime(
    _ applications: [ControlInterface.Application]
  ) -> [ControlInterface.Application] {
    applications.map {
      var application = $0
      application.instance?.backgroundTimeRemainingUSec = nil
      return application
    }
  }

  @Test(
    "A message that is not a Varlink message closes its own connection",
    arguments: [
      "", "nonsense", "{", "[]", "null", "{}", #"{"method":1}"#, #"{"method":""}"#,
      #"{"method":"x","method":"y"}"#, #"{"method":"a.b.C","parameters":[]}"#,
      #"{"method":"a.b.C","more":1}"#, "{\"method\":\"\u{1}\"}", "\u{feff}{}",
      #"{"method":"org.taskschedd.Control.ListApplications"} x"#,
      #"{"method":"a.b.C","parameters":{"a":1,"a":2}}"#, #"{"method":"a\ud800.b.C"}"#,
    ])
  func malformed(_ text: String) throws {
    try unchanged { daemon in
      let client = try RawClient(daemon)
      let answer = try client.call(text)
      // The daemon closes the connection or replies with an error. It never sends a successful
      // reply.
      #expect(answer == nil || answer?.errorName != nil, "\(String(describing: answer))")
    }
  }

  @Test(
    "A message that is not a valid call closes its connection without a reply, and is logged",
    arguments: [
      ("nonsense", "is not valid JSON"), ("[]", "is not a JSON object"),
      (#"{"method":"a.b.C","parameters":{"a":1,"a":2}}"#, "is not valid JSON"),
      (#"{"method":"a.b.C","method":"a.b.C"}"#, "'method' appears twice"),
      (#"{"method":"a.b.C","id":1}"#, "unknown field 'id'"),
      (#"{"method":"a.b.C","parameters":[]}"#, "'parameters' must be an object"),
      (#"{"method":"a.b.C","more":true,"oneway":true}"#, "both 'more' and 'oneway'"),
    ])
  func noCall(_ text: String, _ reason: String) throws {
    try unchanged { daemon in
      let client = try RawClient(daemon)
      #expect(try client.call(text) == nil)
      #expect(daemon.logged.contains(reason))
    }
  }

  @Test(
      """
      The description of each interface says how the daemon treats an invalid message
      """, arguments: ["Application", "Control"])
  func describedClosing(_ interface: String) throws {
    try unchanged { daemon in
      let client = try RawClient(daemon)
      let answer = try client.call(
        #"{"method":"org.varlink.service.GetInterfaceDescription","parameters":"#
          + #"{"interface":"org.taskschedd.\#(interface)"}}"#)
      let description = try #require(answer?["parameters"]?["description"])
      #expect("\(description)".contains("a client sends a message that is not a valid call"))
    }
  }

  @Test("Invalid UTF-8 and an unfinished message close their own connection")
  func truncated() throws {
    try unchanged { daemon in
      let invalid = try RawClient(daemon)
      try invalid.send(Array(#"{"method":""#.utf8) + [0xff, 0xfe] + Array(#""}"#.utf8) + [0])
      #expect(try invalid.receive() == nil)
      let unfinished = try RawClient(daemon)
      try unfinished.send(Array(Self.list.utf8.dropLast(3)))
      try unfinished.shutDownWriting()
      #expect(try unfinished.receive() == nil)
    }
  }

  @Test("A message of more than 1 MiB, or one nested too deeply, closes its own connection")
  func oversized() throws {
    try unchanged { daemon in
      let padding = String(repeating: "x", count: (1 << 20) + 1)
      let large = try RawClient(daemon)
      try large.send(Array(#"{"method":"\#(padding)"}"#.utf8) + [0])
      #expect(try large.receive() == nil)
      let endless = try RawClient(daemon)
      var isOpen = true
      for _ in 0..<64 where isOpen {
        isOpen = try endless.send([UInt8](repeating: UInt8(ascii: " "), count: 1 << 16))
      }
      #expect(!isOpen)
      let deep = String(repeating: "[", count: 100_000) + String(repeating: "]", count: 100_000)
      let nested = try RawClient(daemon)
      try nested.send(#"{"method":"a.b.C","parameters":{"x":\#(deep)}}"#)
      #expect(try nested.receive() == nil)
    }
  }

  @Test(
    "InvalidParameter names the field",
    arguments: [
      ("Application.Register", #"{"application":5}"#, "application"),
      ("Application.Register", "{}", "application"),
      ("Application.Register", #"{"application":"a.b","background":"yes"}"#, "background"),
      ("Application.BeginBackgroundTask", #"{"name":[]}"#, "name"),
      ("Application.BeginBackgroundTask", #"{"name":"\u0007"}"#, "name"),
      ("Application.EndBackgroundTask", #"{"task":1.5}"#, "task"),
      ("Application.EndBackgroundTask", #"{"task":99999999999999999999}"#, "task"),
      ("Application.Acknowledge", #"{"callback":true}"#, "callback"),
      ("Control.GetApplication", #"{"application":"a.b","owner":"root"}"#, "owner"),
      ("Control.Terminate", #"{"application":"a.b","byUser":0}"#, "byUser"),
      ("Control.Adopt", #"{"application":"a.b"}"#, "processFileDescriptor"),
      ("Control.Adopt", #"{"application":"a.b","processFileDescriptor":7}"#,
       "processFileDescriptor"),
      ("Control.Adopt", #"{"application":"a.b","processFileDescriptor":-1}"#,
       "processFileDescriptor"),
      ("Control.Adopt", #"{"application":"a.b","processFileDescriptor":"x"}"#,
       "processFileDescriptor"),
    ])
  func wrongTypes(_ method: String, _ parameters: String, _ field: String) throws {
    try unchanged { daemon in
      let client = try RawClient(daemon)
      let answer = try client.call(
        #"{"method":"org.taskschedd.\#(method)","parameters":\#(parameters),"more":true}"#)
      #expect(answer?["error"] == "org.varlink.service.InvalidParameter", "\(answer ?? .null)")
      #expect(answer?["parameters"]?["parameter"] == .string(field))
    }
  }

  @Test(
    "Unknown methods, ids and states are refused by name",
    arguments: [
      ("org.taskschedd.Nothing.Call", "{}", "InterfaceNotFound"),
      ("org.taskschedd.Control.Nothing", "{}", "MethodNotFound"),
      ("org.taskschedd.Control.Monitor", "{}", "ExpectedMore"),
      ("org.taskschedd.Application.Register", #"{"application":"a.b"}"#, "ExpectedMore"),
      ("org.taskschedd.Application.GetStatus", "{}", "NotRegistered"),
      ("org.taskschedd.Application.BeginBackgroundTask", "{}", "NotRegistered"),
      ("org.taskschedd.Control.GetApplication", #"{"application":"no"}"#, "InvalidApplicationID"),
      ("org.taskschedd.Control.Activate", #"{"application":"a.b"}"#, "UnknownApplication"),
      ("org.taskschedd.Control.Deactivate", #"{"application":"org.test.program"}"#,
       "InvalidTransition"),
      ("org.taskschedd.Control.Launch", #"{"application":"org.test.program"}"#, "AlreadyRunning"),
    ])
  func refused(_ method: String, _ parameters: String, _ error: String) throws {
    try unchanged { daemon in
      let client = try RawClient(daemon)
      let answer = try client.call(#"{"method":"\#(method)","parameters":\#(parameters)}"#)
      #expect(answer?.errorName == error, "\(answer ?? .null)")
      #expect(try client.call(Self.list)?["parameters"]?["applications"] != nil)
    }
  }

  @Test("The reply to a mistyped id names the nearest known id")
  func nearest() throws {
    try unchanged { daemon in
      #expect(
        throws: ControlInterface.Failure.unknownApplication(
          application: "org.test.progam", nearest: "org.test.program")
      ) { try daemon.application("org.test.progam") }
    }
  }

  @Test("An adoption that names a background mode twice is refused")
  func repeatedModes() throws {
    try unchanged { daemon in
      let adopt = #"""
        {"method":"org.taskschedd.Control.Adopt","parameters":
        {"application":"a.b","processFileDescriptor":0,"backgroundModes":["audio","audio"]}}
        """#
      let answer = try RawClient(daemon).call(adopt, descriptors: [0])
      #expect(answer?["parameters"]?["parameter"] == "backgroundModes")
    }
  }

  @Test(
    "Unexpected descriptors are closed; a descriptor that is not a pidfd is refused by its field")
  func descriptors() throws {
    try unchanged { daemon in
      let client = try RawClient(daemon)
      // After this reply, the connection is certainly among the daemon's descriptors.
      _ = try client.call(Self.list)
      let before = try daemon.descriptorCount()
      let adopt = #"""
        {"method":"org.taskschedd.Control.Adopt","parameters":
        {"application":"a.b","processFileDescriptor":0}}
        """#
      for _ in 0..<20 {
        let answer = try client.call(Self.list, descriptors: [0, 1, 2])
        #expect(answer?["parameters"] != nil)
        let refused = try client.call(adopt, descriptors: [0])
        #expect(refused?.errorName == "InvalidParameter")
        #expect(refused?["parameters"]?["parameter"] == "processFileDescriptor")
      }
      try waitUntil("the descriptors are closed") { try daemon.descriptorCount() <= before }
    }
  }
}

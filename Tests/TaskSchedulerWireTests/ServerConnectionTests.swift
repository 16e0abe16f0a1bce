import Testing

@testable import TaskSchedulerWire

@Suite("The server connection follows Varlink")
struct ServerConnectionTests {
  static let service = Service(
    vendor: "V", product: "P", version: "1", url: "u",
    interfaces: [try! InterfaceDescription(
      text: "interface a.b\nmethod Do(x: ?int) -> ()\nmethod Watch() -> ()\n")])

  private func play(_ text: String) throws {
    var connection = ServerConnection(service: Self.service)
    var output: [UInt8] = []
    var action: ServerConnection.Action?
    for step in Transcript(text).steps {
      switch step.mark {
      case ">":
        #expect(output.isEmpty, "line \(step.line): \(Transcript.messages(output))")
        action = connection.receive(Array(step.text.utf8), output: &output)
      case "=":
        guard case .call(let call) = action else {
          Issue.record("line \(step.line): \(String(describing: action))")
          return
        }
        let (word, value) = try Transcript.wordAndValue(step.text)
        let flags = (call.more ? "+more" : "") + (call.oneway ? "+oneway" : "")
        #expect(call.method + flags == word, "line \(step.line)")
        #expect(call.parameters == value, "line \(step.line)")
      case ".", "..":
        let value = try JSONParser.parse(Array(step.text.utf8))
        connection.reply(value, continues: step.mark == "..", output: &output)
      case "!":
        let (name, value) = try Transcript.wordAndValue(step.text)
        connection.fail(NamedFailure(name: name, parameters: value), output: &output)
      case "<":
        #expect(Transcript.messages(output) == [step.text], "line \(step.line)")
        output = []
      case "busy", "idle":
        #expect(connection.isBusy == (step.mark == "busy"), "line \(step.line)")
        #expect(output.isEmpty, "line \(step.line)")
      case "x":
        guard case .close(let violation) = action else {
          Issue.record("line \(step.line): \(String(describing: action))")
          return
        }
        #expect(violation.description.contains(step.text), "line \(step.line)")
      default:
        Issue.record("line \(step.line): no step is marked '\(step.mark)'")
      }
    }
    #expect(output.isEmpty)
  }

  @Test("A call is returned and answered before the next call is returned")
  func callAndReply() throws {
    try play(#"""
      idle
      > {"method":"a.b.Do","parameters":{"x":1}}
      = a.b.Do {"x":1}
      busy
      . {"y":2}
      < {"parameters":{"y":2}}
      idle
      > {"method":"a.b.Do"}
      = a.b.Do {}
      ! a.b.Broken {"z":3}
      < {"error":"a.b.Broken","parameters":{"z":3}}
      idle
      """#)
  }

  @Test("Calls that arrive together are returned and answered in order")
  func pipelined() throws {
    var stream: [UInt8] = []
    for x: Int64 in 1...3 {
      Call(method: "a.b.Do", parameters: ["x": .integer(x)]).append(to: &stream)
    }
    var connection = ServerConnection(service: Self.service)
    var scanner = MessageScanner()
    var output: [UInt8] = []
    while let length = try stream.withUnsafeBytes({ try scanner.scan($0) }) {
      #expect(!connection.isBusy)
      let action = connection.receive(Array(stream[..<(length - 1)]), output: &output)
      stream.removeFirst(length)
      guard case .call(let call) = action else { throw Unexpected() }
      #expect(connection.isBusy)
      connection.reply(call.parameters, output: &output)
    }
    #expect(Transcript.messages(output) == (1...3).map { #"{"parameters":{"x":\#($0)}}"# })
  }

  struct Unexpected: Error {}

  @Test("A call with more takes any number of replies and waits until the last")
  func more() throws {
    try play(#"""
      > {"method":"a.b.Watch","more":true}
      = a.b.Watch+more {}
      .. {"n":1}
      < {"parameters":{"n":1},"continues":true}
      busy
      .. {"n":2}
      < {"parameters":{"n":2},"continues":true}
      busy
      . {"n":3}
      < {"parameters":{"n":3}}
      idle
      > {"method":"a.b.Watch","more":true}
      .. {}
      < {"parameters":{},"continues":true}
      ! a.b.Gone
      < {"error":"a.b.Gone","parameters":{}}
      idle
      """#)
  }

  @Test("A oneway call gets neither a reply nor an error")
  func oneway() throws {
    try play(#"""
      > {"method":"a.b.Do","oneway":true}
      = a.b.Do+oneway {}
      busy
      . {"y":2}
      idle
      > {"method":"a.b.Do","oneway":true}
      ! a.b.Broken
      idle
      > {"method":"a.b.Nothing","oneway":true}
      idle
      > {"method":"org.varlink.service.GetInfo","oneway":true}
      idle
      > {"method":"a.b.Do","oneway":true,"upgrade":true}
      idle
      """#)
  }

  @Test("A missing interface or method gets a standard error, and the next call works")
  func standardErrors() throws {
    try play(#"""
      > {"method":"a.b.Nothing"}
      < {"error":"org.varlink.service.MethodNotFound","parameters":{"method":"a.b.Nothing"}}
      > {"method":"a.c.Do"}
      < {"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"a.c"}}
      > {"method":"Do"}
      < {"error":"org.varlink.service.MethodNotFound","parameters":{"method":"Do"}}
      > {"method":""}
      < {"error":"org.varlink.service.MethodNotFound","parameters":{"method":""}}
      > {"method":"a.b.Do","upgrade":true}
      < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"upgrade"}}
      > {"method":"a.b.Do"}
      = a.b.Do {}
      . {}
      < {"parameters":{}}
      """#)
  }

  @Test("The connection itself answers org.varlink.service")
  func introspection() throws {
    try play(#"""
      > {"method":"org.varlink.service.GetInfo"}
      < {"parameters":{"vendor":"V","product":"P","version":"1","url":"u",
      \ "interfaces":["org.varlink.service","a.b"]}}
      > {"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"a.b"}}
      < {"parameters":{"description":"interface a.b\nmethod Do(x: ?int) -> ()\n
      \ method Watch() -> ()\n"}}
      > {"method":"org.varlink.service.GetInterfaceDescription","parameters":{"interface":"x.y"}}
      < {"error":"org.varlink.service.InterfaceNotFound","parameters":{"interface":"x.y"}}
      > {"method":"org.varlink.service.GetInterfaceDescription"}
      < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"interface"}}
      > {"method":"org.varlink.service.GetInfo","parameters":{"stray":1}}
      < {"error":"org.varlink.service.InvalidParameter","parameters":{"parameter":"stray"}}
      """#)
  }

  @Test("The interfaces of taskschedd are served unchanged, and can be parsed again")
  func servesOwnInterfaces() throws {
    let service = Service(
      vendor: "", product: "", version: "", url: "",
      interfaces: [ApplicationInterface.description, ControlInterface.description])
    for interface in service.interfaces {
      var connection = ServerConnection(service: service)
      var output: [UInt8] = []
      var message: [UInt8] = []
      Call(
        method: "org.varlink.service.GetInterfaceDescription",
        parameters: ["interface": .string(interface.name)]
      ).append(to: &message)
      _ = connection.receive(Array(message.dropLast()), output: &output)
      let reply = try output.dropLast().withUnsafeBytes { try Reply(message: $0) }
      guard case .string(let text) = reply.parameters["description"] else { throw Unexpected() }
      #expect(text == interface.text)
      #expect(try InterfaceDescription(text: text) == interface)
    }
  }

  @Test("A message that breaks the protocol closes the connection with its reason", arguments: [
    ("{", "not valid JSON at byte 1"), ("7", "not a JSON object"),
    ("{}", "lacks the field 'method'"),
    (#"{"method":"a.b.Do","method":"a.b.Do"}"#, "'method' appears twice"),
    (#"{"method":"a.b.Do","more":true,"oneway":true}"#, "both 'more' and 'oneway'"),
    (#"{"method":"a.b.Do","params":{}}"#, "unknown field 'params'"),
    (#"{"method":{}}"#, "'method' must be a string"),
  ])
  func closes(message: String, reason: String) throws {
    try play(
      #"""
      > {"method":"a.b.Do"}
      . {}
      < {"parameters":{}}
      > \#(message)
      x \#(reason)
      idle
      """#)
  }

  @Test("The error for a descriptor that no field names has the index of the descriptor")
  func strayDescriptors() throws {
    var connection = ServerConnection(service: Self.service)
    var output: [UInt8] = []
    let message = Array(#"{"method":"org.varlink.service.GetInfo"}"#.utf8)
    let action = connection.receive(message, fileDescriptorCount: 2, output: &output)
    guard case .answered = action else { throw Unexpected() }
    let reply = try output.dropLast().withUnsafeBytes { try Reply(message: $0) }
    #expect(reply.error == "org.varlink.service.InvalidParameter")
    #expect(reply.parameters == ["parameter": "fileDescriptors[0]"])
  }

  @Test("A second reply to a call without more is a programming error, and traps")
  func trapsOnContinues() async {
    await #expect(processExitsWith: .failure) {
      var connection = ServerConnection(service: ServerConnectionTests.service)
      var output: [UInt8] = []
      _ = connection.receive(Array(#"{"method":"a.b.Do"}"#.utf8), output: &output)
      connection.reply(JSONValue.object([]), continues: true, output: &output)
    }
  }
}

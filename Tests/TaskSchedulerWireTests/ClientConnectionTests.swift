import Testing

@testable import TaskSchedulerWire

@Suite("The client connection follows Varlink")
struct ClientConnectionTests {
  private func answer(
    _ connection: inout ClientConnection, _ text: String
  ) throws -> ClientConnection.Answer {
    try connection.receive(Array(text.utf8))
  }

  private func call(
    _ connection: inout ClientConnection, more: Bool = false, oneway: Bool = false
  ) -> [String] {
    var output: [UInt8] = []
    connection.call(
      method: "a.b.Do", ["x": 1] as JSONValue, more: more, oneway: oneway, output: &output)
    return Transcript.messages(output)
  }

  @Test("Calls are written in the protocol's form")
  func writesCalls() {
    var connection = ClientConnection()
    #expect(call(&connection) == [#"{"method":"a.b.Do","parameters":{"x":1}}"#])
    #expect(call(&connection, more: true)
      == [#"{"method":"a.b.Do","parameters":{"x":1},"more":true}"#])
    #expect(call(&connection, oneway: true)
      == [#"{"method":"a.b.Do","parameters":{"x":1},"oneway":true}"#])
    #expect(connection.waitingCount == 2)
    var output: [UInt8] = []
    connection.call(
      ApplicationInterface.BeginBackgroundTask.self, .init(name: "upload"), output: &output)
    #expect(Transcript.messages(output) == [
      #"{"method":"org.taskschedd.Application.BeginBackgroundTask","parameters":{"name":"upload"}}"#
    ])
  }

  @Test("Replies belong to the calls in order; oneway calls have no reply")
  func pipelined() throws {
    var connection = ClientConnection()
    _ = call(&connection)
    _ = call(&connection, oneway: true)
    _ = call(&connection, more: true)
    _ = call(&connection)
    #expect(try answer(&connection, #"{"parameters":{"n":1}}"#)
      == .reply(["n": 1], continues: false))
    for n in 2...4 {
      #expect(try answer(&connection, #"{"parameters":{"n":\#(n)},"continues":true}"#)
        == .reply(["n": .integer(Int64(n))], continues: true))
      #expect(connection.waitingCount == 2)
    }
    #expect(try answer(&connection, #"{"error":"a.b.Gone","parameters":{"w":0}}"#)
      == .failure(name: "a.b.Gone", parameters: ["w": 0]))
    #expect(try answer(&connection, "{}") == .reply([:], continues: false))
    #expect(connection.waitingCount == 0)
  }

  static let violations: [(more: Bool, text: String, violation: ProtocolViolation)] = [
    (false, #"{"continues":true}"#, .unexpectedContinues),
    (true, #"{"error":"a.B","continues":true}"#, .errorContinues),
    (false, "[]", .notAnObject),
    (false, #"{"result":1}"#, .unknownField("result")),
    (false, #"{"parameters":1}"#, .wrongType(field: "parameters", wanted: "an object")),
  ]

  @Test(
    "A reply that breaks the protocol is refused, and so are all later replies",
    arguments: violations.indices)
  func refuses(index: Int) {
    let (more, text, violation) = Self.violations[index]
    var connection = ClientConnection()
    _ = call(&connection, more: more)
    #expect(throws: violation) { try answer(&connection, text) }
    #expect(throws: violation) { try answer(&connection, "{}") }
  }

  @Test("A reply that belongs to no call is refused")
  func refusesStrayReply() throws {
    var connection = ClientConnection()
    _ = call(&connection, oneway: true)
    #expect(throws: ProtocolViolation.unexpectedReply) { try answer(&connection, "{}") }
    connection = ClientConnection()
    _ = call(&connection)
    _ = try answer(&connection, "{}")
    #expect(throws: ProtocolViolation.unexpectedReply) { try answer(&connection, "{}") }
  }

  @Test("The server reads what the client writes, with the interface's types, and vice versa")
  func meetsServer() throws {
    typealias Begin = ApplicationInterface.BeginBackgroundTask
    let service = Service(
      vendor: "", product: "", version: "", url: "",
      interfaces: [ApplicationInterface.description])
    var client = ClientConnection()
    var server = ServerConnection(service: service)
    var toServer: [UInt8] = []
    client.call(Begin.self, .init(name: "é\n"), output: &toServer)
    var toClient: [UInt8] = []
    let action = server.receive(Array(toServer.dropLast()), output: &toClient)
    guard case .call(let received) = action else {
      Issue.record("\(action)")
      return
    }
    #expect(received.method == Begin.name)
    #expect(try received.decode(Begin.Input.self) == .init(name: "é\n"))
    server.reply(Begin.Output(task: 7), output: &toClient)
    let answer = try client.receive(Array(toClient.dropLast()))
    guard case .reply(let parameters, continues: false) = answer else {
      Issue.record("\(answer)")
      return
    }
    #expect(try parameters.decode(Begin.Output.self) == .init(task: 7))
  }
}

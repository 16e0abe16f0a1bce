import Testing

@testable import TaskSchedulerWire

@Suite("Malformed messages are refused with the reason")
struct EnvelopeTests {
  private func call(_ text: [UInt8]) throws -> Call {
    try text.withUnsafeBytes { try Call(message: $0) }
  }

  private func reply(_ text: String) throws -> Reply {
    try Array(text.utf8).withUnsafeBytes { try Reply(message: $0) }
  }

  @Test("A call is read in every order and spelling of its fields")
  func readsCalls() throws {
    let plain = Call(method: "a.b.C", parameters: ["x": 1], more: true)
    let texts = [
      #"{"method":"a.b.C","parameters":{"x":1},"more":true}"#,
      #" { "more" : true , "parameters" : { "x" : 1 } , "method" : "a.b.C" } "#,
      #"{"\u006dethod":"a.b.C","oneway":false,"parameters":{"x":1},"more":true,"upgrade":false}"#,
    ]
    for text in texts { #expect(try call(Array(text.utf8)) == plain) }
    #expect(try call(Array(#"{"method":"a.b.C"}"#.utf8)).parameters == [:])
  }

  private static func malformed(_ offset: Int, _ problem: String) -> ProtocolViolation {
    .malformed(JSONError(offset: offset, problem: problem))
  }

  static let badCalls: [(String, ProtocolViolation)] = [
    ("", malformed(0, "the text ends too early: an object was expected")),
    ("[]", .notAnObject), ("1", .notAnObject), ("null", .notAnObject), ("\"a\"", .notAnObject),
    ("{}", .missingField("method")),
    (#"{"parameters":{}}"#, .missingField("method")),
    (#"{"method":"a","method":"a"}"#, .duplicateField("method")),
    (#"{"method":"a","\u006dethod":"b"}"#, .duplicateField("method")),
    (#"{"method":"a","parameters":{},"parameters":{}}"#, .duplicateField("parameters")),
    (#"{"method":"a","extra":1}"#, .unknownField("extra")),
    (#"{"Method":"a"}"#, .unknownField("Method")),
    (#"{"method":"a","continues":true}"#, .unknownField("continues")),
    (#"{"method":"a","error":"b"}"#, .unknownField("error")),
    (#"{"method":1}"#, .wrongType(field: "method", wanted: "a string")),
    (#"{"method":null}"#, .wrongType(field: "method", wanted: "a string")),
    (#"{"method":"a","parameters":[]}"#, .wrongType(field: "parameters", wanted: "an object")),
    (#"{"method":"a","more":1}"#, .wrongType(field: "more", wanted: "a bool")),
    (#"{"method":"a","oneway":"true"}"#, .wrongType(field: "oneway", wanted: "a bool")),
    (#"{"method":"a","more":true,"oneway":true}"#, .moreAndOneway),
    (
      #"{"method":"a","parameters":{"x":1,"x":2}}"#,
      malformed(34, "the name 'x' appears twice in this object")
    ),
    (#"{"method":"a"}x"#, malformed(14, "unexpected text after the value")),
  ]

  @Test("A call that breaks the rules is refused with the reason", arguments: badCalls.indices)
  func refusesCalls(index: Int) {
    let (text, violation) = Self.badCalls[index]
    #expect(throws: violation) { try call(Array(text.utf8)) }
  }

  @Test("A call that is truncated at any byte is refused as malformed")
  func refusesTruncatedCalls() throws {
    let text = Array(#"{"method":"a.b.C","parameters":{"x":[1,"y"]},"more":true}"#.utf8)
    _ = try call(text)
    for count in 0..<text.count {
      let violation = #expect(throws: ProtocolViolation.self) { try call(Array(text[..<count])) }
      guard case .malformed(let error) = violation else {
        Issue.record("cut off at \(count): \(violation as Any)")
        continue
      }
      #expect(error.offset == count)
    }
  }

  @Test("A call with any one byte changed is read or refused without harm")
  func survivesChangedBytes() {
    let text = Array(#"{"method":"a.b.C","parameters":{"x":[1,"y"]},"more":true}"#.utf8)
    var refused = 0
    for index in text.indices {
      for byte in UInt8.min...UInt8.max {
        var changed = text
        changed[index] = byte
        do { _ = try call(changed) } catch { refused += 1 }
      }
    }
    #expect(refused > text.count * 200)
  }

  @Test("A message that is nested too deeply is refused; the message itself counts as a level")
  func refusesDeepParameters() throws {
    func text(_ depth: Int) -> [UInt8] {
      let arrays = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
      return Array(#"{"method":"a","parameters":{"x":\#(arrays)}}"#.utf8)
    }
    _ = try call(text(JSONParser.depthMax - 2))
    #expect(throws: ProtocolViolation.self) { try call(text(JSONParser.depthMax - 1)) }
  }

  @Test("A reply is read, or is refused if it breaks the rules")
  func readsReplies() throws {
    #expect(try reply(#"{"parameters":{"a":1},"continues":true}"#)
      == Reply(parameters: ["a": 1], continues: true))
    #expect(try reply("{}") == Reply())
    #expect(try reply(#"{"error":"a.B"}"#) == Reply(error: "a.B"))
    let bad: [(String, ProtocolViolation)] = [
      (#"{"error":"a.B","continues":true}"#, .errorContinues),
      (#"{"method":"a"}"#, .unknownField("method")),
      (#"{"error":null}"#, .wrongType(field: "error", wanted: "a string")),
      (#"{"parameters":null}"#, .wrongType(field: "parameters", wanted: "an object")),
      (#"{"continues":true,"continues":true}"#, .duplicateField("continues")),
    ]
    for (text, violation) in bad { #expect(throws: violation) { try reply(text) } }
  }

  @Test("A message that is written and read equals the original")
  func roundTrips() throws {
    let calls = [
      Call(method: "a.b.C"), Call(method: "a.b.C", parameters: ["x": nil], more: true),
      Call(method: "é", oneway: true), Call(method: "a", upgrade: true),
    ]
    for written in calls {
      var bytes: [UInt8] = []
      written.append(to: &bytes)
      #expect(bytes.last == 0)
      #expect(try call(Array(bytes.dropLast())) == written)
    }
    for written in [Reply(), Reply(parameters: ["a": []], continues: true), Reply(error: "x.Y")] {
      var bytes: [UInt8] = []
      written.append(to: &bytes)
      #expect(try bytes.dropLast().withUnsafeBytes { try Reply(message: $0) } == written)
    }
  }
}

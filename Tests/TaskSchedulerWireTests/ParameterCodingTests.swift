import Testing

@testable import TaskSchedulerWire

@Suite("Parameters are read by type, and the error for a wrong parameter names it")
struct ParameterCodingTests {
  struct Inner: WireStructure {
    var id: Int
    var name: String?

    static let fieldNames = ["id", "name"]

    init(id: Int, name: String? = nil) {
      self.id = id
      self.name = name
    }

    init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      name = try fields.optional("name")
    }

    func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "name", name)
    }
  }

  enum Color: String, WireEnumeration { case red, green }

  struct Outer: WireStructure {
    var text: String
    var count: Int?
    var flag: Bool?
    var inner: Inner?
    var list: [Inner]?
    var names: [String]?
    var color: Color?
    var ratio: Double?
    var anything: JSONValue?

    static let fieldNames = [
      "text", "count", "flag", "inner", "list", "names", "color", "ratio", "anything",
    ]

    init(_ fields: FieldReader) throws(ParameterError) {
      text = try fields.required("text")
      count = try fields.optional("count")
      flag = try fields.optional("flag")
      inner = try fields.optional("inner")
      list = try fields.optional("list")
      names = try fields.optional("names")
      color = try fields.optional("color")
      ratio = try fields.optional("ratio")
      anything = try fields.optional("anything")
    }

    func writeFields(to object: inout [UInt8]) {
      object.append(field: "text", text)
      object.append(field: "count", count)
      object.append(field: "flag", flag)
      object.append(field: "inner", inner)
      object.append(field: "list", list)
      object.append(field: "names", names)
      object.append(field: "color", color)
      object.append(field: "ratio", ratio)
      object.append(field: "anything", anything)
    }
  }

  private func outer(_ text: String) throws -> Outer {
    let value = try JSONParser.parse(Array(text.utf8))
    return try Outer(parameters: value, unknownFields: .refused)
  }

  @Test("Fields of every kind are read and written back")
  func roundTrips() throws {
    let text =
      #"{"text":"a","count":-3,"flag":true,"inner":{"id":1,"name":"n"},"list":[{"id":2},{"id":3}],"#
      + #""names":["x","y"],"color":"green","ratio":1.5,"anything":[1,{"a":null}]}"#
    let value = try outer(text)
    #expect(value.inner == Inner(id: 1, name: "n"))
    #expect(value.list == [Inner(id: 2), Inner(id: 3)])
    #expect(value.color == .green)
    var bytes: [UInt8] = []
    value.write(to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == text)
  }

  @Test("null equals an absent field, and absent fields are not written")
  func nullIsAbsent() throws {
    let value = try outer(#"{"text":"a","count":null,"inner":null,"list":null}"#)
    #expect(value == (try outer(#"{"text":"a"}"#)))
    var bytes: [UInt8] = []
    value.write(to: &bytes)
    #expect(String(decoding: bytes, as: UTF8.self) == #"{"text":"a"}"#)
  }

  @Test("A float field accepts an int")
  func intIsFloat() throws {
    #expect(try outer(#"{"text":"a","ratio":2}"#).ratio == 2.0)
  }

  static let bad: [(text: String, parameter: String)] = [
    ("{}", "text"), (#"{"text":null}"#, "text"), (#"{"text":1}"#, "text"),
    (#"{"text":"a\u0000b"}"#, "text"), (#"{"text":"a","count":1.0}"#, "count"),
    (#"{"text":"a","count":"1"}"#, "count"),
    (#"{"text":"a","count":9223372036854775808}"#, "count"),
    (#"{"text":"a","flag":1}"#, "flag"), (#"{"text":"a","inner":[]}"#, "inner"),
    (#"{"text":"a","inner":{}}"#, "inner.id"), (#"{"text":"a","inner":{"id":true}}"#, "inner.id"),
    (#"{"text":"a","inner":{"id":1,"nmae":"x"}}"#, "inner.nmae"),
    (#"{"text":"a","list":{}}"#, "list"), (#"{"text":"a","list":[{"id":1},{}]}"#, "list[1].id"),
    (#"{"text":"a","list":[{"id":1},7]}"#, "list[1]"),
    (#"{"text":"a","names":["x",1]}"#, "names[1]"),
    (#"{"text":"a","names":["x",null]}"#, "names[1]"), (#"{"text":"a","color":"blue"}"#, "color"),
    (#"{"text":"a","color":3}"#, "color"),
    (#"{"text":"a","ratio":"1"}"#, "ratio"), (#"{"text":"a","txet":"b"}"#, "txet"),
    (#"{"txet":"b"}"#, "txet"), ("[]", ""),
  ]

  @Test(
    "The error for a field of the wrong type has the dotted path of the field",
    arguments: bad.indices)
  func refuses(index: Int) {
    let (text, parameter) = Self.bad[index]
    let error = #expect(throws: ParameterError.self) { try outer(text) }
    #expect(error?.parameter == parameter)
    #expect(error?.failure == .invalidParameter(parameter: parameter))
    #expect(error?.problem.isEmpty == false)
  }

  @Test("A type without fields accepts only an empty object")
  func emptyTakesNothing() throws {
    _ = try JSONValue.object([]).decode(NoFields.self)
    #expect(throws: ParameterError.self) { try JSONValue.array([]).decode(NoFields.self) }
    let error = #expect(throws: ParameterError.self) {
      try NoFields(parameters: ["stray": 1], unknownFields: .refused)
    }
    #expect(error?.parameter == "stray")
    var bytes: [UInt8] = []
    NoFields().write(to: &bytes)
    #expect(bytes == Array("{}".utf8))
  }

  @Test("A reply may have unknown fields, but its known fields are checked")
  func repliesMaySayMore() throws {
    let reply = try JSONParser.parse(Array(#"{"id":1,"new":2}"#.utf8))
    #expect(try reply.decode(Inner.self) == Inner(id: 1))
    _ = try reply.decode(NoFields.self)
    let wrong = try JSONParser.parse(Array(#"{"id":"1","new":2}"#.utf8))
    let error = #expect(throws: ParameterError.self) { try wrong.decode(Inner.self) }
    #expect(error?.parameter == "id")
  }

  // MARK: - File descriptors

  struct Handover: WireStructure {
    var processFileDescriptor: FileDescriptorIndex
    var logFileDescriptor: FileDescriptorIndex?

    static let fieldNames = ["processFileDescriptor", "logFileDescriptor"]

    init(_ fields: FieldReader) throws(ParameterError) {
      processFileDescriptor = try fields.required("processFileDescriptor")
      logFileDescriptor = try fields.optional("logFileDescriptor")
    }

    func writeFields(to object: inout [UInt8]) {
      object.append(field: "processFileDescriptor", processFileDescriptor)
      object.append(field: "logFileDescriptor", logFileDescriptor)
    }
  }

  static let descriptors: [(text: String, count: Int, parameter: String?)] = [
    (#"{"processFileDescriptor":0}"#, 1, nil),
    (#"{"processFileDescriptor":1,"logFileDescriptor":0}"#, 2, nil),
    (#"{"processFileDescriptor":0}"#, 0, "processFileDescriptor"),
    (#"{"processFileDescriptor":1}"#, 1, "processFileDescriptor"),
    (#"{"processFileDescriptor":-1}"#, 1, "processFileDescriptor"),
    (#"{"processFileDescriptor":"0"}"#, 1, "processFileDescriptor"),
    (#"{"processFileDescriptor":0,"logFileDescriptor":0}"#, 1, "logFileDescriptor"),
    (#"{"processFileDescriptor":0,"logFileDescriptor":2}"#, 2, "logFileDescriptor"),
    (#"{"processFileDescriptor":0}"#, 2, "fileDescriptors[1]"),
    (#"{"processFileDescriptor":2}"#, 3, "fileDescriptors[0]"),
  ]

  @Test(
    "Each descriptor is claimed by exactly one field; otherwise, the error names the wrong field",
    arguments: descriptors.indices)
  func claimsDescriptors(index: Int) throws {
    let (text, count, parameter) = Self.descriptors[index]
    let value = try JSONParser.parse(Array(text.utf8))
    do {
      _ = try Handover(
        parameters: value, fileDescriptorCount: count, unknownFields: .refused)
      #expect(parameter == nil)
    } catch {
      #expect(error.parameter == parameter)
    }
  }
}

import TaskSchedulerWire

/// The certification sequence: the expected calls and their answers.
struct Certification {
  /// One step: a method's name, the required parameters of its call apart from `client_id`, the
  /// required flags of the call, and the answers.
  struct Step {
    let method: String
    let wants: JSONValue
    var more = false
    var oneway = false
    let answers: [JSONValue]
  }

  private static let values: JSONValue = [
    "bool": false, "int": 2, "float": 3.141592653589793, "string": "a lot of string",
  ]
  private static let map: JSONValue = ["foo": "Foo", "bar": "Bar"]
  private static let set: JSONValue = ["one": [:], "two": [:], "three": [:]]
  private static let myType: JSONValue = [
    "object": [
      "method": "org.varlink.certification.Test09",
      "parameters": ["map": ["foo": "Foo", "bar": "Bar"]],
    ],
    "enum": "two",
    "struct": ["first": 1, "second": "2"],
    "array": ["one", "two", "three"],
    "dictionary": ["foo": "Foo", "bar": "Bar"],
    "stringset": ["one": [:], "two": [:], "three": [:]],
    "nullable": nil,
    "nullable_array_struct": nil,
    "interface": [
      "foo": [nil, ["foo": "foo", "bar": "bar"], nil, ["one": "foo", "two": "bar"]],
      "anon": ["foo": true, "bar": false],
    ],
  ]
  private static let replyTexts = (1...10).map { "Reply number \($0)" }

  static let steps: [Step] = [
    Step(method: "Test01", wants: [:], answers: [["bool": true]]),
    Step(method: "Test02", wants: ["bool": true], answers: [["int": 1]]),
    Step(method: "Test03", wants: ["int": 1], answers: [["float": 1.0]]),
    Step(method: "Test04", wants: ["float": 1.0], answers: [["string": "ping"]]),
    Step(method: "Test05", wants: ["string": "ping"], answers: [values]),
    Step(method: "Test06", wants: values, answers: [["struct": values]]),
    Step(method: "Test07", wants: ["struct": values], answers: [["map": map]]),
    Step(method: "Test08", wants: ["map": map], answers: [["set": set]]),
    Step(method: "Test09", wants: ["set": set], answers: [["mytype": myType]]),
    Step(
      method: "Test10", wants: ["mytype": myType], more: true,
      answers: replyTexts.map { ["string": .string($0)] }),
    Step(
      method: "Test11", wants: ["last_more_replies": .array(replyTexts.map { .string($0) })],
      oneway: true, answers: [[:]]),
    Step(method: "End", wants: [:], answers: [["all_ok": true]]),
  ]

  /// An error of the interface.
  enum Failure: MethodFailure {
    case clientID
    case certification(wants: JSONValue, got: JSONValue)

    var name: String {
      switch self {
      case .clientID: "org.varlink.certification.ClientIdError"
      case .certification: "org.varlink.certification.CertificationError"
      }
    }

    var parameters: JSONValue {
      switch self {
      case .clientID: [:]
      case .certification(let wants, let got): ["wants": wants, "got": got]
      }
    }
  }

  /// The index of the step that is expected next from each client.
  private var next: [String: Int] = [:]

  /// Returns the answers to a call. The server sends all but the last one with the flag
  /// `continues`.
  mutating func answers(to call: ReceivedCall) throws(Failure) -> [JSONValue] {
    let method = call.method.dropFirst("org.varlink.certification.".count)
    if method == "Start" {
      let client = "client-\(next.count + 1)"
      next[client] = 0
      return [["client_id": .string(client)]]
    }
    guard case .string(let client) = call.parameters["client_id"], let index = next[client] else {
      throw .clientID
    }
    let step = Self.steps[index]
    var wants: [(String, JSONValue)] = [("client_id", .string(client))]
    if case .object(let members) = step.wants { wants += members.map { ($0.name, $0.value) } }
    let wanted = JSONValue.object(wants.map { JSONValue.Member(name: $0.0, value: $0.1) })
    guard method == step.method, call.more == step.more, call.oneway == step.oneway,
      Self.sorted(wanted) == Self.sorted(call.parameters)
    else {
      next[client] = nil
      throw .certification(
        wants: ["method": .string(step.method), "parameters": wanted],
        got: ["method": .string(String(method)), "parameters": call.parameters])
    }
    next[client] = index + 1 < Self.steps.count ? index + 1 : nil
    return step.answers
  }

  /// Returns a value for comparison: the members of objects are sorted, and null members are
  /// removed, because they mean the same as missing members.
  private static func sorted(_ value: JSONValue) -> JSONValue {
    switch value {
    case .null, .bool, .integer, .number, .string: value
    case .array(let elements): .array(elements.map(sorted))
    case .object(let members):
      .object(
        members.filter { $0.value != .null }
          .map { JSONValue.Member(name: $0.name, value: sorted($0.value)) }
          .sorted { $0.name < $1.name })
    }
  }
}

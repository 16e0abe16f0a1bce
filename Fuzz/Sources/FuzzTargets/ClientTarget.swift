import TaskSchedulerWire

/// The client's end of a connection, which receives arbitrary answers.
///
/// The input starts with one letter for each call: `c` is a plain call, `m` is one with the flag
/// `more`, and `o` is one with the flag `oneway`. Then follow the answers, each terminated by a
/// NUL. The target decodes each answer as an answer to every method.
enum ClientTarget {
  private enum Kind: UInt8 {
    case plain = 0x63
    case more = 0x6D
    case oneway = 0x6F
  }

  static func run(_ input: UnsafeRawBufferPointer) throws {
    var controlBytes = ControlBytes(input)
    var client = ClientConnection()
    let expected = call(&client, &controlBytes)
    try require(client.waitingCount == expected, "\(client.waitingCount) calls wait")
    var violation: ProtocolViolation?
    for message in controlBytes.rest.split(separator: 0) {
      switch receive(UnsafeRawBufferPointer(rebasing: message), &client) {
      case .success(let answer):
        try require(violation == nil, "a broken connection accepted a message")
        try decode(answer)
      case .failure(let error):
        if let violation { try require(error == violation, "\(violation) became \(error)") }
        violation = error
      }
    }
  }

  /// Makes the calls of the input. Returns how many of them expect an answer.
  private static func call(_ client: inout ClientConnection, _ controlBytes: inout ControlBytes)
    -> Int
  {
    var expected = 0
    var output: [UInt8] = []
    while let kind = controlBytes.rest.first.flatMap(Kind.init(rawValue:)) {
      _ = controlBytes.byte()
      client.call(
        method: ApplicationInterface.Register.name, more: kind == .more, oneway: kind == .oneway,
        output: &output)
      if kind != .oneway { expected += 1 }
    }
    return expected
  }

  private static func receive(
    _ message: UnsafeRawBufferPointer, _ client: inout ClientConnection
  ) -> Result<ClientConnection.Answer, ProtocolViolation> {
    do throws(ProtocolViolation) {
      return .success(try client.receive(message))
    } catch {
      return .failure(error)
    }
  }

  private static func decode(_ answer: ClientConnection.Answer) throws {
    switch answer {
    case .reply(let parameters, _):
      for method in InterfaceMethods.all { decode(parameters, as: method) }
    case .failure(let name, let parameters):
      try FailureCheck.run(ApplicationInterface.Failure.self, name, parameters)
      try FailureCheck.run(ControlInterface.Failure.self, name, parameters)
      try FailureCheck.run(SessionInterface.Failure.self, name, parameters)
      try FailureCheck.run(StandardFailure.self, name, parameters)
    }
  }

  private static func decode<Method: InterfaceMethod>(
    _ parameters: JSONValue, as method: Method.Type
  ) {
    _ = try? parameters.decode(Method.Output.self)
  }
}

/// Checks that a decoded error is unchanged after encoding and decoding it again.
enum FailureCheck {
  static func run<Failure: InterfaceFailure>(
    _ type: Failure.Type, _ name: String, _ parameters: JSONValue
  ) throws {
    let first: Failure?
    do throws(ParameterError) {
      first = try Failure(name: name, parameters: parameters)
    } catch {
      return try require(!error.problem.isEmpty, "the refusal has no reason")
    }
    guard let first else { return }
    let again = try? Failure(name: first.name, parameters: first.parameters)
    try require(again == first, "\(first) was read back as \(String(describing: again))")
    try require(!first.description.isEmpty, "the error has no description")
  }
}

import TaskSchedulerWire

/// The parameters of calls and replies. The target decodes them as the input and as the output of
/// every method. Decoded parameters must be unchanged after encoding and decoding them again.
///
/// The input is one JSON object. A byte from 1 to 8 before the object is the number of descriptors
/// that arrive with the message.
enum ParametersTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    var controlBytes = ControlBytes(input)
    var descriptorCount = 0
    if let first = controlBytes.rest.first, (1...8).contains(first) {
      descriptorCount = Int(controlBytes.byte() ?? 0)
    }
    guard let value = try? JSONParser.parse(controlBytes.rest), case .object = value else { return }
    for method in InterfaceMethods.all { try check(method, value, descriptorCount) }
    for name in ApplicationInterface.Failure.Name.allCases {
      try FailureCheck.run(ApplicationInterface.Failure.self, name.rawValue, value)
    }
    for name in ControlInterface.Failure.Name.allCases {
      try FailureCheck.run(ControlInterface.Failure.self, name.rawValue, value)
    }
    for name in SessionInterface.Failure.Name.allCases {
      try FailureCheck.run(SessionInterface.Failure.self, name.rawValue, value)
    }
    for name in StandardFailure.Name.allCases {
      try FailureCheck.run(StandardFailure.self, name.rawValue, value)
    }
  }

  private static func check<Method: InterfaceMethod>(
    _ method: Method.Type, _ value: JSONValue, _ descriptorCount: Int
  ) throws {
    var message: [UInt8] = []
    Call(method: method.name, parameters: value).append(to: &message)
    if let input = try decode(method, message, descriptorCount) {
      var client = ClientConnection()
      var written: [UInt8] = []
      client.call(method, input, output: &written)
      let again = try decode(method, written, descriptorCount)
      try require(again == input, "\(input) was read back as \(String(describing: again))")
    }
    guard let output = try? value.decode(Method.Output.self) else { return }
    let again = try answer(with: output, to: method).decode(Method.Output.self)
    try require(again == output, "\(output) was read back as \(again)")
  }

  /// Returns the call's parameters as the method receives them; nil if they are refused.
  private static func decode<Method: InterfaceMethod>(
    _ method: Method.Type, _ message: [UInt8], _ descriptorCount: Int
  ) throws -> Method.Input? {
    var server = ServerConnection(service: InterfaceMethods.service)
    var output: [UInt8] = []
    let action = server.receive(
      Array(message.dropLast()), fileDescriptorCount: descriptorCount, output: &output)
    guard case .call(let call) = action else {
      throw Finding(description: "the server did not accept a call of \(method.name): \(action)")
    }
    do throws(ParameterError) {
      return try call.decode(Method.Input.self)
    } catch {
      try require(!error.problem.isEmpty, "the refusal has no reason")
      return nil
    }
  }

  /// Returns the parameters of a reply as the caller receives them.
  private static func answer<Method: InterfaceMethod>(
    with output: Method.Output, to method: Method.Type
  ) throws -> JSONValue {
    var written: [UInt8] = []
    var server = ServerConnection(service: InterfaceMethods.service)
    var client = ClientConnection()
    client.call(method: method.name, output: &written)
    var answer: [UInt8] = []
    _ = server.receive(Array(written.dropLast()), output: &answer)
    server.reply(output, output: &answer)
    switch try client.receive(Array(answer.dropLast())) {
    case .reply(let parameters, _): return parameters
    case .failure(let name, _):
      throw Finding(description: "the client read a reply as the error \(name)")
    }
  }
}

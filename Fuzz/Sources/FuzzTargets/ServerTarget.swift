import TaskSchedulerWire

/// The server's end of a connection, and a client that decodes its answers.
///
/// The input is a stream of messages, each terminated by a NUL. A byte from 1 to 8 before a message
/// is the number of descriptors that arrive with the message. The target decodes the calls as the
/// daemon does, and answers them.
enum ServerTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    var server = ServerConnection(service: InterfaceMethods.service)
    var client = ClientConnection()
    for part in input.split(separator: 0, omittingEmptySubsequences: false) {
      var controlBytes = ControlBytes(UnsafeRawBufferPointer(rebasing: part))
      var descriptorCount = 0
      if let first = controlBytes.rest.first, (1...8).contains(first) {
        descriptorCount = Int(controlBytes.byte() ?? 0)
      }
      var output: [UInt8] = []
      let action = server.receive(
        controlBytes.rest, fileDescriptorCount: descriptorCount, output: &output)
      if case .close = action {
        try require(
          output.isEmpty, "the server wrote output for a message that closes the connection")
        return
      }
      guard let call = try? Call(message: controlBytes.rest) else {
        throw Finding(description: "the server accepted a message that is not a call")
      }
      var ignored: [UInt8] = []
      client.call(
        method: call.method, call.parameters, more: call.more, oneway: call.oneway,
        output: &ignored)
      if case .call(let received) = action { try answer(received, &server, &output) }
      try require(!server.isBusy, "the connection is still busy after the answer")
      try take(output, by: &client)
    }
  }

  private static func answer(
    _ call: ReceivedCall, _ server: inout ServerConnection, _ output: inout [UInt8]
  ) throws {
    guard let method = InterfaceMethods.byName[call.method] else {
      throw Finding(
        description: "the server accepted a call of an undeclared method: \(call.method)")
    }
    do throws(ParameterError) {
      try call.decodeInput(of: method)
    } catch {
      return server.fail(error, output: &output)
    }
    let input = call.parameters
    if server.takesMore { server.reply(input, continues: true, output: &output) }
    server.reply(input, output: &output)
  }

  private static func take(_ output: [UInt8], by client: inout ClientConnection) throws {
    try require(output.isEmpty || output.last == 0, "the answer does not end with a NUL")
    for message in output.split(separator: 0) {
      do throws(ProtocolViolation) {
        _ = try client.receive(Array(message))
      } catch {
        throw Finding(description: "the client refuses the answer: \(error)")
      }
    }
    try require(client.waitingCount == 0, "the client still waits for an answer")
  }
}

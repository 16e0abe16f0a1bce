/// The serving end of one connection: whole messages in, bytes to send out, no I/O.
///
/// At most one call is being answered at a time. While `isBusy`, the owner leaves further messages
/// where they are (in the kernel), so that answers leave in the order of the calls.
public struct ServerConnection {
  /// What the owner is to do about a message.
  public enum Action: Sendable {
    /// To carry out the call, and then `reply` or `fail`, also where it is oneway.
    case call(ReceivedCall)
    /// Nothing more: it has been answered, if it wanted an answer. Descriptors that came with the
    /// message are to be closed.
    case answered
    /// To close the connection, once what has been appended before is sent.
    case close(ProtocolViolation)
  }

  private enum State: Hashable, Sendable {
    case idle
    /// A call waits for its (next) answer.
    case busy(more: Bool, oneway: Bool)
    /// The peer has broken the protocol.
    case closed
  }

  private let service: Service
  private var state = State.idle

  public init(service: Service) {
    self.service = service
  }

  /// True from the moment a call has been handed out until its last answer.
  public var isBusy: Bool {
    switch state {
    case .busy: true
    case .idle, .closed: false
    }
  }

  /// True where the call that is being answered takes any number of replies.
  public var takesMore: Bool {
    switch state {
    case .busy(let more, _): more
    case .idle, .closed: false
    }
  }

  /// True where the call that is being answered takes no reply.
  public var isOneway: Bool {
    switch state {
    case .busy(_, let oneway): oneway
    case .idle, .closed: false
    }
  }

  /// Takes over a connection of an earlier process on which a call is outstanding.
  public mutating func resume(more: Bool, oneway: Bool) {
    precondition(state == .idle, "a connection is taken over before its first message")
    state = .busy(more: more, oneway: oneway)
  }

  // MARK: - In

  /// Takes one whole message, without its NUL, and the number of descriptors that came with it.
  ///
  /// Must not be called while `isBusy`, nor after a `close`.
  public mutating func receive(
    _ message: UnsafeRawBufferPointer, fileDescriptorCount: Int = 0, output: inout [UInt8]
  ) -> Action {
    precondition(state == .idle, "a message was taken while a call waits, or after the close")
    let call: Call
    do throws(ProtocolViolation) {
      call = try Call(message: message)
    } catch {
      state = .closed
      return .close(error)
    }
    state = .busy(more: call.more, oneway: call.oneway)
    let received = ReceivedCall(call, fileDescriptorCount: fileDescriptorCount)
    if call.upgrade {
      fail(
        ParameterError(parameter: "upgrade", problem: "this service offers no other protocol"),
        output: &output)
    } else if let refusal = service.refusal(of: call.method) {
      fail(refusal, output: &output)
    } else if let method = ServiceInterface.MethodName(rawValue: call.method) {
      answer(method, received, &output)
    } else {
      return .call(received)
    }
    return .answered
  }

  /// Returns the call of a whole message without its NUL, if it is a oneway call. Does not change
  /// the connection.
  public func onewayCall(_ message: UnsafeRawBufferPointer) -> ReceivedCall? {
    guard let call = try? Call(message: message), call.oneway else { return nil }
    return ReceivedCall(call, fileDescriptorCount: 0)
  }

  /// Takes one whole message, without its NUL.
  public mutating func receive(
    _ message: [UInt8], fileDescriptorCount: Int = 0, output: inout [UInt8]
  ) -> Action {
    message.withUnsafeBytes {
      receive($0, fileDescriptorCount: fileDescriptorCount, output: &output)
    }
  }

  private mutating func answer(
    _ method: ServiceInterface.MethodName, _ call: ReceivedCall, _ output: inout [UInt8]
  ) {
    do {
      switch method {
      case .getInfo:
        _ = try call.decode(ServiceInterface.GetInfo.Input.self)
        reply(service.info, output: &output)
      case .getInterfaceDescription:
        let input = try call.decode(ServiceInterface.GetInterfaceDescription.Input.self)
        reply(try service.text(of: input.interface), output: &output)
      }
    } catch let error as any MethodFailure {
      fail(error, output: &output)
    } catch {
      fatalError("a method of org.varlink.service threw \(error)")
    }
  }

  // MARK: - Out

  /// Answers the call; nothing is appended where it is oneway. With `continues` it stays open for
  /// more answers, which only a call with `more` does.
  public mutating func reply(
    _ parameters: some WireValue, continues: Bool = false, output: inout [UInt8]
  ) {
    let oneway = answering(continues: continues)
    if !oneway { Reply.append(parameters: parameters, continues: continues, to: &output) }
  }

  /// Answers the call with an error; nothing is appended where it is oneway.
  public mutating func fail(_ failure: some MethodFailure, output: inout [UInt8]) {
    let oneway = answering(continues: false)
    if !oneway { Reply.append(failure, to: &output) }
  }

  /// True if the call is oneway.
  private mutating func answering(continues: Bool) -> Bool {
    guard case .busy(let more, let oneway) = state else {
      preconditionFailure("an answer without a call")
    }
    precondition(more || !continues, "only a call with 'more' takes further replies")
    if !continues { state = .idle }
    return oneway
  }
}

/// A call that the owner of the connection is to carry out.
public struct ReceivedCall: Hashable, Sendable {
  /// The full name of the method, which one of the service's interfaces declares.
  public let method: String
  /// An object.
  public let parameters: JSONValue
  /// The caller takes any number of replies.
  public let more: Bool
  /// The caller takes no reply.
  public let oneway: Bool
  /// Descriptors that came with the message.
  public let fileDescriptorCount: Int

  init(_ call: Call, fileDescriptorCount: Int) {
    method = call.method
    parameters = call.parameters
    more = call.more
    oneway = call.oneway
    self.fileDescriptorCount = fileDescriptorCount
  }

  /// The parameters as the method's input.
  ///
  /// Throws `ParameterError`, which `ServerConnection.fail` answers as `InvalidParameter`, for a
  /// field that is missing, unknown or of the wrong type, and for descriptors that no field claims.
  /// The owner must call this for every call, also if the input has no fields.
  public func decode<Value: WireValue>(_ type: Value.Type) throws(ParameterError) -> Value {
    try Value(
      parameters: parameters, fileDescriptorCount: fileDescriptorCount, unknownFields: .refused)
  }
}

/// The server side of a connection. It turns received messages into calls, and replies into bytes
/// to send. It does no I/O.
///
/// It handles one call at a time. While `isBusy`, the owner leaves further messages in the socket,
/// so that the replies are sent in the order of the calls.
public struct ServerConnection {
  /// The action that the owner must take after a message.
  public enum Action: Sendable {
    /// Carry out the call, then call `reply` or `fail`, even if the call is oneway.
    case call(ReceivedCall)
    /// Close the descriptors that came with the message. The connection has handled the call
    /// itself, and has appended the reply to `output`, unless the call is oneway.
    case answered
    /// Send the bytes that were appended to `output`, then close the connection.
    case close(ProtocolViolation)
  }

  private enum State: Hashable, Sendable {
    case idle
    /// A call waits for its next reply.
    case busy(more: Bool, oneway: Bool)
    /// The peer has violated the protocol.
    case closed
  }

  private let service: Service
  private var state = State.idle

  public init(service: Service) {
    self.service = service
  }

  /// Whether the owner has received a call, but has not yet passed the last reply to the
  /// connection.
  public var isBusy: Bool {
    switch state {
    case .busy: true
    case .idle, .closed: false
    }
  }

  /// Whether the current call accepts several replies.
  public var takesMore: Bool {
    switch state {
    case .busy(let more, _): more
    case .idle, .closed: false
    }
  }

  /// Whether the current call expects no reply.
  public var isOneway: Bool {
    switch state {
    case .busy(_, let oneway): oneway
    case .idle, .closed: false
    }
  }

  /// Takes over a connection from an earlier process, together with its outstanding call.
  public mutating func resume(more: Bool, oneway: Bool) {
    precondition(state == .idle, "a connection is taken over before its first message")
    state = .busy(more: more, oneway: oneway)
  }

  // MARK: - Receiving

  /// Handles one whole message, without its terminating NUL. `fileDescriptorCount` is the number of
  /// descriptors that came with it.
  ///
  /// Do not call this function while `isBusy` is true, or after it has returned `close`.
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

  /// Returns the call of a message if the call is oneway; otherwise nil. `message` is one whole
  /// message without its terminating NUL. Does not change the connection.
  public func onewayCall(_ message: UnsafeRawBufferPointer) -> ReceivedCall? {
    guard let call = try? Call(message: message), call.oneway else { return nil }
    return ReceivedCall(call, fileDescriptorCount: 0)
  }

  /// Handles one whole message, without its terminating NUL.
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

  // MARK: - Sending

  /// Replies to the call. Appends nothing if the call is oneway. With `continues`, the call stays
  /// open for more replies; only a call with `more` allows this.
  public mutating func reply(
    _ parameters: some WireValue, continues: Bool = false, output: inout [UInt8]
  ) {
    let oneway = answering(continues: continues)
    if !oneway { Reply.append(parameters: parameters, continues: continues, to: &output) }
  }

  /// Replies to the call with an error. Appends nothing if the call is oneway.
  public mutating func fail(_ failure: some MethodFailure, output: inout [UInt8]) {
    let oneway = answering(continues: false)
    if !oneway { Reply.append(failure, to: &output) }
  }

  /// Records a reply to the current call. Returns whether the call is oneway.
  private mutating func answering(continues: Bool) -> Bool {
    guard case .busy(let more, let oneway) = state else {
      preconditionFailure("an answer without a call")
    }
    precondition(more || !continues, "only a call with 'more' takes further replies")
    if !continues { state = .idle }
    return oneway
  }
}

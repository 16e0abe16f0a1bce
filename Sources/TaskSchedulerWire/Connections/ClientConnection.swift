/// The client side of a connection. It turns calls into bytes to send, and received messages into
/// replies. It does no I/O.
///
/// A client may send a call before it has received the replies to earlier calls. Replies arrive in
/// the order of the calls.
public struct ClientConnection: Hashable, Sendable {
  /// A reply or an error, which answers the oldest outstanding call.
  public enum Answer: Hashable, Sendable {
    /// A reply. With `continues`, another reply to the same call follows.
    case reply(JSONValue, continues: Bool)
    case failure(name: String, parameters: JSONValue)
  }

  /// For each outstanding call, the oldest first: whether it accepts several replies.
  private var waiting: [Bool] = []
  private var violation: ProtocolViolation?

  public init() {}

  /// The number of calls that wait for their last reply.
  public var waitingCount: Int { waiting.count }

  // MARK: - Sending

  /// Appends a call of the method to `output`. `more` and `oneway` exclude each other.
  public mutating func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, more: Bool = false, oneway: Bool = false,
    output: inout [UInt8]
  ) {
    call(method: Method.name, input, more: more, oneway: oneway, output: &output)
  }

  /// Appends a call of the method with this full name to `output`. `more` and `oneway` exclude each
  /// other.
  public mutating func call(
    method: String, _ parameters: some WireValue = JSONValue.object([]), more: Bool = false,
    oneway: Bool = false, output: inout [UInt8]
  ) {
    precondition(!(more && oneway), "a call is either 'more' or 'oneway', not both")
    if !oneway { waiting.append(more) }
    Call.append(method: method, parameters: parameters, more: more, oneway: oneway, to: &output)
  }

  // MARK: - Receiving

  /// Handles one whole message, without its terminating NUL. After a violation, the connection is
  /// unusable, and each further call of this function throws the same violation.
  public mutating func receive(
    _ message: UnsafeRawBufferPointer
  ) throws(ProtocolViolation) -> Answer {
    if let violation { throw violation }
    do throws(ProtocolViolation) {
      return try take(try Reply(message: message))
    } catch {
      violation = error
      throw error
    }
  }

  /// Handles one whole message, without its terminating NUL.
  public mutating func receive(_ message: [UInt8]) throws(ProtocolViolation) -> Answer {
    try message.withUnsafeBytesTyped { (bytes) throws(ProtocolViolation) in
      try receive(bytes)
    }
  }

  private mutating func take(_ reply: Reply) throws(ProtocolViolation) -> Answer {
    guard let more = waiting.first else { throw .unexpectedReply }
    if reply.continues {
      if !more { throw .unexpectedContinues }
      return .reply(reply.parameters, continues: true)
    }
    waiting.removeFirst()
    if let error = reply.error { return .failure(name: error, parameters: reply.parameters) }
    return .reply(reply.parameters, continues: false)
  }
}

/// The calling end of one connection: calls in, bytes to send out; messages in, answers out.
/// No I/O.
///
/// Calls may be sent before earlier ones are answered; answers come in the order of the calls.
public struct ClientConnection: Hashable, Sendable {
  /// One answer to the oldest call that is not answered to its end.
  public enum Answer: Hashable, Sendable {
    /// `continues` says that another answer to the same call follows.
    case reply(JSONValue, continues: Bool)
    case failure(name: String, parameters: JSONValue)
  }

  /// For each call that waits, whether it takes several replies; the oldest first.
  private var waiting: [Bool] = []
  private var violation: ProtocolViolation?

  public init() {}

  /// Calls that are not answered to their end.
  public var waitingCount: Int { waiting.count }

  // MARK: - Out

  /// Appends a call of the method. `more` and `oneway` exclude each other.
  public mutating func call<Method: InterfaceMethod>(
    _ method: Method.Type, _ input: Method.Input, more: Bool = false, oneway: Bool = false,
    output: inout [UInt8]
  ) {
    call(method: Method.name, input, more: more, oneway: oneway, output: &output)
  }

  /// Appends a call of the method of that full name. `more` and `oneway` exclude each other.
  public mutating func call(
    method: String, _ parameters: some WireValue = JSONValue.object([]), more: Bool = false,
    oneway: Bool = false, output: inout [UInt8]
  ) {
    precondition(!(more && oneway), "a call is either 'more' or 'oneway', not both")
    if !oneway { waiting.append(more) }
    Call.append(method: method, parameters: parameters, more: more, oneway: oneway, to: &output)
  }

  // MARK: - In

  /// Takes one whole message, without its NUL. After it has thrown, the connection is of no more
  /// use, and it throws the same again.
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

  /// Takes one whole message, without its NUL.
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

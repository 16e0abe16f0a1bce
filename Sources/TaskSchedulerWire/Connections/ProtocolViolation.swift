/// What a peer did that Varlink does not allow and that no reply can mend: the connection is
/// closed.
public enum ProtocolViolation: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message is not JSON as `JSONParser` wants it.
  case malformed(JSONError)
  /// The message is a JSON value, but not an object.
  case notAnObject
  case duplicateField(String)
  case unknownField(String)
  case missingField(String)
  /// A field of the envelope has another type than `wanted`: "a bool", "a string", "an object".
  case wrongType(field: String, wanted: String)
  /// A call wants several replies and none.
  case moreAndOneway
  /// A message longer than `bytesMax` bytes, its NUL included.
  case oversized(bytesMax: Int)
  /// A reply came that answers no call.
  case unexpectedReply
  /// A reply says that another follows, to a call that did not ask for `more`.
  case unexpectedContinues
  /// An error says that another reply follows.
  case errorContinues

  /// What was wrong, in one sentence without a full stop.
  public var description: String {
    switch self {
    case .malformed(let error): "the message is not valid JSON at \(error)"
    case .notAnObject: "the message is not a JSON object"
    case .duplicateField(let field): "the field '\(field)' appears twice in the message"
    case .unknownField(let field): "a message has no field '\(field)'"
    case .missingField(let field): "the message lacks the field '\(field)'"
    case .wrongType(let field, let wanted): "the message's field '\(field)' must be \(wanted)"
    case .moreAndOneway: "a call is either 'more' or 'oneway', not both"
    case .oversized(let bytesMax): "the message is longer than \(bytesMax) bytes"
    case .unexpectedReply: "the reply belongs to no call"
    case .unexpectedContinues: "a second reply is announced to a call without 'more'"
    case .errorContinues: "an error announces another reply"
    }
  }
}

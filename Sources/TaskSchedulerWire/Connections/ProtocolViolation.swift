/// A violation of the Varlink protocol by the peer. The receiver of the message does not reply to
/// it, and closes the connection.
public enum ProtocolViolation: Error, Hashable, Sendable, CustomStringConvertible {
  /// The message is not JSON that `JSONParser` accepts.
  case malformed(JSONError)
  /// The message is a JSON value, but not an object.
  case notAnObject
  case duplicateField(String)
  case unknownField(String)
  case missingField(String)
  /// A field of the message does not have the type `wanted`, such as "a bool" or "a string".
  case wrongType(field: String, wanted: String)
  /// A call sets both `more` and `oneway`.
  case moreAndOneway
  /// A message, including its terminating NUL, is longer than `bytesMax` bytes.
  case oversized(bytesMax: Int)
  /// A reply arrived while no call was outstanding.
  case unexpectedReply
  /// A reply sets `continues`, but the call did not set `more`.
  case unexpectedContinues
  /// An error sets `continues`.
  case errorContinues

  /// The description of the violation, as one sentence without a period.
  public var description: String {
    switch self {
    case .malformed(let error): "the message is not valid JSON at \(error)"
    case .notAnObject: "the message is not a JSON object"
    case .duplicateField(let field): "the field '\(field)' appears twice in the message"
    case .unknownField(let field): "the message has an unknown field '\(field)'"
    case .missingField(let field): "the message lacks the field '\(field)'"
    case .wrongType(let field, let wanted): "the message's field '\(field)' must be \(wanted)"
    case .moreAndOneway: "the call sets both 'more' and 'oneway'"
    case .oversized(let bytesMax): "the message is longer than \(bytesMax) bytes"
    case .unexpectedReply: "the reply belongs to no call"
    case .unexpectedContinues: "the reply sets 'continues', but its call did not set 'more'"
    case .errorContinues: "an error sets 'continues'"
    }
  }
}

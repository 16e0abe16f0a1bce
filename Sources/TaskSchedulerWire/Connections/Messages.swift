/// The message that calls a method.
public struct Call: Hashable, Sendable {
  /// The full name, such as `org.taskschedd.Application.Register`.
  public var method: String
  /// A JSON object; empty if the message omits it.
  public var parameters: JSONValue
  /// Whether the caller accepts several replies.
  public var more: Bool
  /// Whether the caller expects no reply.
  public var oneway: Bool
  /// Whether the caller requests a switch to another protocol. The services offer none.
  public var upgrade: Bool

  public init(
    method: String, parameters: JSONValue = .object([]), more: Bool = false, oneway: Bool = false,
    upgrade: Bool = false
  ) {
    self.method = method
    self.parameters = parameters
    self.more = more
    self.oneway = oneway
    self.upgrade = upgrade
  }

  /// Parses the call from a message without its terminating NUL.
  public init(message: UnsafeRawBufferPointer) throws(ProtocolViolation) {
    var method: String?
    var parameters = JSONValue.object([])
    var (more, oneway, upgrade) = (false, false, false)
    var reader = EnvelopeReader(message)
    while let field = try reader.nextField() {
      switch field {
      case .method: method = try reader.string(field)
      case .parameters: parameters = try reader.object(field)
      case .more: more = try reader.bool(field)
      case .oneway: oneway = try reader.bool(field)
      case .upgrade: upgrade = try reader.bool(field)
      case .continues, .error: throw .unknownField(field.name)
      }
    }
    guard let method else { throw .missingField("method") }
    if more && oneway { throw .moreAndOneway }
    self.init(
      method: method, parameters: parameters, more: more, oneway: oneway, upgrade: upgrade)
  }

  /// Appends the call as a message with its terminating NUL.
  public func append(to output: inout [UInt8]) {
    Self.append(
      method: method, parameters: parameters, more: more, oneway: oneway, upgrade: upgrade,
      to: &output)
  }

  /// Appends a call with typed parameters as a message with its terminating NUL.
  static func append(
    method: String, parameters: some WireValue, more: Bool, oneway: Bool, upgrade: Bool = false,
    to output: inout [UInt8]
  ) {
    output.append(literal: "{\"method\":")
    output.append(json: method)
    output.append(literal: ",\"parameters\":")
    parameters.write(to: &output)
    if more { output.append(literal: ",\"more\":true") }
    if oneway { output.append(literal: ",\"oneway\":true") }
    if upgrade { output.append(literal: ",\"upgrade\":true") }
    output.append(literal: "}\0")
  }
}

/// A message that replies to a call.
public struct Reply: Hashable, Sendable {
  /// A JSON object; empty if the message omits it.
  public var parameters: JSONValue
  /// Whether another reply to the same call follows.
  public var continues: Bool
  /// The full name of the error; nil if the call succeeded.
  public var error: String?

  public init(parameters: JSONValue = .object([]), continues: Bool = false, error: String? = nil) {
    self.parameters = parameters
    self.continues = continues
    self.error = error
  }

  /// Parses the reply from a message without its terminating NUL.
  public init(message: UnsafeRawBufferPointer) throws(ProtocolViolation) {
    self.init()
    var reader = EnvelopeReader(message)
    while let field = try reader.nextField() {
      switch field {
      case .parameters: parameters = try reader.object(field)
      case .continues: continues = try reader.bool(field)
      case .error: error = try reader.string(field)
      case .method, .more, .oneway, .upgrade: throw .unknownField(field.name)
      }
    }
    if error != nil && continues { throw .errorContinues }
  }

  /// Appends the reply as a message with its terminating NUL.
  public func append(to output: inout [UInt8]) {
    if let error {
      Self.open(error: error, in: &output)
      parameters.write(to: &output)
      output.append(literal: "}\0")
    } else {
      Self.append(parameters: parameters, continues: continues, to: &output)
    }
  }

  /// Appends a reply with typed parameters as a message with its terminating NUL.
  public static func append(parameters: some WireValue, continues: Bool, to output: inout [UInt8]) {
    output.append(literal: "{\"parameters\":")
    parameters.write(to: &output)
    if continues { output.append(literal: ",\"continues\":true") }
    output.append(literal: "}\0")
  }

  /// Appends an error as a message with its terminating NUL.
  public static func append(_ failure: some MethodFailure, to output: inout [UInt8]) {
    open(error: failure.name, in: &output)
    failure.writeParameters(to: &output)
    output.append(literal: "}\0")
  }

  private static func open(error: String, in output: inout [UInt8]) {
    output.append(literal: "{\"error\":")
    output.append(json: error)
    output.append(literal: ",\"parameters\":")
  }
}

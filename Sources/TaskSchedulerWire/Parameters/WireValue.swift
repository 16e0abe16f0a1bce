/// A value that a field of a message can hold.
///
/// Reading is strict: a float is no int, a text with U+0000 is refused (it would end early where it
/// becomes a path or a name), and every refusal names the field by its dotted path.
public protocol WireValue: Hashable, Sendable {
  /// Reads the value. The error's path starts at the value itself.
  init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError)
  /// Appends the value to a message, as JSON.
  func write(to message: inout [UInt8])
}

/// An enumeration of an interface: a string, which is one of its cases.
public protocol WireEnumeration: WireValue, RawRepresentable, CaseIterable
where RawValue == String {}

/// A structure of an interface: an object.
public protocol WireStructure: WireValue {
  /// In the order of the interface.
  static var fieldNames: [String] { get }
  /// Reads the fields one by one.
  init(_ fields: FieldReader) throws(ParameterError)
  /// Appends the fields that are not nil to an object that has been opened.
  func writeFields(to object: inout [UInt8])
}

/// A structure without fields.
public struct NoFields: WireStructure {
  public static let fieldNames: [String] = []

  public init() {}
  public init(_ fields: FieldReader) {}
  public func writeFields(to object: inout [UInt8]) {}
}

/// What the values of one message share while they are read.
public struct ReadingContext {
  /// What becomes of fields that a structure does not know.
  enum UnknownFields {
    /// In calls: a field that is mistyped, or that a newer peer relies on, is never overlooked.
    case refused
    /// In replies: a program of today goes on when the daemon of tomorrow says more.
    case ignored
  }

  let unknownFields: UnknownFields
  /// Nil where no descriptors came with the message.
  let claims: FileDescriptorClaims?
}

extension WireValue {
  /// Reads the parameters of a message that came with `fileDescriptorCount` descriptors.
  init(
    parameters: JSONValue, fileDescriptorCount: Int = 0, unknownFields: ReadingContext.UnknownFields
  ) throws(ParameterError) {
    let claims = fileDescriptorCount == 0 ? nil : FileDescriptorClaims(count: fileDescriptorCount)
    try self.init(
      reading: parameters, ReadingContext(unknownFields: unknownFields, claims: claims))
    if let unclaimed = claims?.firstUnclaimed {
      throw FileDescriptorClaims.unclaimedError(unclaimed)
    }
  }
}

extension JSONValue {
  /// A value as it stands in a message.
  public init(_ value: some WireValue) {
    var text: [UInt8] = []
    value.write(to: &text)
    self.init(written: text)
  }

  /// Reads what was written here.
  init(written text: [UInt8]) {
    do throws(JSONError) {
      self = try JSONParser.parse(text)
    } catch {
      fatalError("what was written is no JSON: \(error)")
    }
  }

  /// The parameters of a reply as the method's output. Fields that the type does not know are
  /// ignored: a newer daemon may say more.
  public func decode<Value: WireValue>(_ type: Value.Type) throws(ParameterError) -> Value {
    try Value(parameters: self, unknownFields: .ignored)
  }
}

// MARK: - Structures and enumerations

extension WireStructure {
  public init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    let fields = try FieldReader(json, context)
    switch context.unknownFields {
    case .refused: try fields.refuseAllBut(Self.fieldNames)
    case .ignored: break
    }
    try self.init(fields)
  }

  public func write(to message: inout [UInt8]) {
    message.append(UInt8(ascii: "{"))
    writeFields(to: &message)
    message.append(UInt8(ascii: "}"))
  }
}

extension WireEnumeration {
  public init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    guard case .string(let name) = json else { throw .wanted("a string", not: json) }
    guard let value = Self(rawValue: name) else {
      throw ParameterError(parameter: "", problem: "\(Self.self) has no value '\(name)'")
    }
    self = value
  }

  public func write(to message: inout [UInt8]) { message.append(json: rawValue) }
}

extension [UInt8] {
  /// Appends a field of the object that was opened last.
  ///
  /// No value ends in an opening brace: the last byte tells whether this is the first field.
  mutating func append<Value: WireValue>(field name: StaticString, _ value: Value) {
    if last != UInt8(ascii: "{") { append(UInt8(ascii: ",")) }
    append(UInt8(ascii: "\""))
    append(literal: name)
    append(literal: "\":")
    value.write(to: &self)
  }

  /// Appends a field unless it is nil.
  mutating func append<Value: WireValue>(field name: StaticString, _ value: Value?) {
    if let value { append(field: name, value) }
  }
}

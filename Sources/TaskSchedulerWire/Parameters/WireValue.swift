/// A value of a field of a message.
///
/// Decoding is strict. A float is not an int. A text with U+0000 is refused, because a path or a
/// name would end at that character when it is passed to the kernel. Each error names the field by
/// its path.
public protocol WireValue: Hashable, Sendable {
  /// Decodes the value. The error's path starts at the value itself.
  init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError)
  /// Appends the value to a message as JSON.
  func write(to message: inout [UInt8])
}

/// An enumeration of an interface. In a message it is a string.
public protocol WireEnumeration: WireValue, RawRepresentable, CaseIterable
where RawValue == String {}

/// A structure of an interface. In a message it is an object.
public protocol WireStructure: WireValue {
  /// The names of the fields, in the order of the interface.
  static var fieldNames: [String] { get }
  /// Decodes the fields one by one.
  init(_ fields: FieldReader) throws(ParameterError)
  /// Appends the fields that are not nil to an open object.
  func writeFields(to object: inout [UInt8])
}

/// A structure without fields.
public struct NoFields: WireStructure {
  public static let fieldNames: [String] = []

  public init() {}
  public init(_ fields: FieldReader) {}
  public func writeFields(to object: inout [UInt8]) {}
}

/// The properties of a message on which the decoding of its values depends.
public struct ReadingContext {
  /// What the decoder does with fields that the structure does not declare.
  enum UnknownFields {
    /// Refuse the message. Calls use this, because the daemon must not overlook a mistyped field,
    /// or a field that a newer client relies on.
    case refused
    /// Ignore the field. Replies use this, so that a client continues to work with a newer daemon.
    case ignored
  }

  let unknownFields: UnknownFields
  /// The record of claimed descriptors; nil if the message came without descriptors.
  let claims: FileDescriptorClaims?
}

extension WireValue {
  /// Decodes the parameters of a message with `fileDescriptorCount` descriptors.
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
  /// Creates the JSON value of a typed value.
  public init(_ value: some WireValue) {
    var text: [UInt8] = []
    value.write(to: &text)
    self.init(written: text)
  }

  /// Parses text that this process has written.
  init(written text: [UInt8]) {
    do throws(JSONError) {
      self = try JSONParser.parse(text)
    } catch {
      fatalError("the written text is not valid JSON: \(error)")
    }
  }

  /// Decodes the parameters of a reply as the output of a method. Ignores fields that the type does
  /// not declare, because a newer daemon may send them.
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
  /// Appends a field to the innermost open object.
  ///
  /// No value ends in an opening brace, so the last byte shows whether this is the first field.
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

/// Reads the fields of a received object one by one. A field with the value null counts as absent.
public struct FieldReader {
  private let members: [JSONValue.Member]
  private let context: ReadingContext

  init(_ json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    guard case .object(let members) = json else { throw .wanted("an object", not: json) }
    self.members = members
    self.context = context
  }

  /// Reads the parameters of an error. Ignores unknown fields, as in all replies.
  init(error parameters: JSONValue) throws(ParameterError) {
    try self.init(parameters, ReadingContext(unknownFields: .ignored, claims: nil))
  }

  /// Returns the value of a required field.
  func required<Value: WireValue>(_ name: String) throws(ParameterError) -> Value {
    if let value: Value = try optional(name) { return value }
    throw ParameterError(parameter: name, problem: "the field is missing")
  }

  /// Returns the value of a field; nil if it is null or absent.
  func optional<Value: WireValue>(_ name: String) throws(ParameterError) -> Value? {
    guard let json = members.value(named: name) else { return nil }
    if case .null = json { return nil }
    do throws(ParameterError) {
      return try Value(reading: json, context)
    } catch {
      throw error.within(name)
    }
  }

  /// Throws an error if the object has a field whose name is not in `names`.
  func refuseAllBut(_ names: [String]) throws(ParameterError) {
    for member in members where !names.contains(member.name) {
      throw ParameterError(parameter: member.name, problem: "there is no such field")
    }
  }
}

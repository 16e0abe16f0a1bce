/// Takes the fields of one object that was received one by one. null is the same as absent.
public struct FieldReader {
  private let members: [JSONValue.Member]
  private let context: ReadingContext

  init(_ json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    guard case .object(let members) = json else { throw .wanted("an object", not: json) }
    self.members = members
    self.context = context
  }

  /// The parameters of an error: fields that it does not know are ignored, as in all replies.
  init(error parameters: JSONValue) throws(ParameterError) {
    try self.init(parameters, ReadingContext(unknownFields: .ignored, claims: nil))
  }

  /// The value of a field that must be there.
  func required<Value: WireValue>(_ name: String) throws(ParameterError) -> Value {
    if let value: Value = try optional(name) { return value }
    throw ParameterError(parameter: name, problem: "the field is missing")
  }

  /// The value of a field; nil where it is null or absent.
  func optional<Value: WireValue>(_ name: String) throws(ParameterError) -> Value? {
    guard let json = members.value(named: name) else { return nil }
    if case .null = json { return nil }
    do throws(ParameterError) {
      return try Value(reading: json, context)
    } catch {
      throw error.within(name)
    }
  }

  /// Throws where there is a field of another name.
  func refuseAllBut(_ names: [String]) throws(ParameterError) {
    for member in members where !names.contains(member.name) {
      throw ParameterError(parameter: member.name, problem: "there is no such field")
    }
  }
}

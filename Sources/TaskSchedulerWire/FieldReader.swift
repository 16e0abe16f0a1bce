/// Takes the fields of one flat object one by one: the parameters of an error. Fields that nobody
/// takes are ignored, as in all replies.
struct FieldReader {
  private let members: [JSONValue.Member]

  init(_ value: JSONValue) throws(ParameterError) {
    guard case .object(let members) = value else {
      throw ParameterError(parameter: "", problem: "an object is wanted here, not \(value.kind)")
    }
    self.members = members
  }

  /// The field decoded as `type`; it must be there.
  func value<T: Decodable>(
    _ name: String, as type: T.Type = T.self
  ) throws(ParameterError) -> T {
    if let value: T = try optional(name) { return value }
    throw ParameterError(parameter: name, problem: "the field is missing")
  }

  /// The field decoded as `type`; nil where it is null or absent.
  func optional<T: Decodable>(
    _ name: String, as type: T.Type = T.self
  ) throws(ParameterError) -> T? {
    guard let value = members.value(named: name), value != .null else { return nil }
    do throws(ParameterError) {
      return try ParameterDecoding.decode(type, from: value, unknownFields: .ignored)
    } catch {
      let below = error.parameter.isEmpty || error.parameter.hasPrefix("[") ? "" : "."
      throw ParameterError(parameter: name + below + error.parameter, problem: error.problem)
    }
  }

  func string(_ name: String) throws(ParameterError) -> String { try value(name) }

  func integer(_ name: String) throws(ParameterError) -> Int { try value(name) }
}

/// Takes the fields of one flat object one by one, and refuses those that are left over.
struct FieldReader {
  private let members: [JSONValue.Member]
  private var taken: [String] = []

  init(_ value: JSONValue) throws(ParameterError) {
    guard case .object(let members) = value else {
      throw ParameterError(parameter: "", problem: "an object is wanted here, not \(value.kind)")
    }
    self.members = members
  }

  /// The field decoded as `type`; it must be there. Each field may be taken once.
  mutating func value<T: Decodable>(
    _ name: String, as type: T.Type = T.self
  ) throws(ParameterError) -> T {
    if let value: T = try optional(name) { return value }
    throw ParameterError(parameter: name, problem: "the field is missing")
  }

  /// The field decoded as `type`; nil where it is null or absent.
  mutating func optional<T: Decodable>(
    _ name: String, as type: T.Type = T.self
  ) throws(ParameterError) -> T? {
    guard let value = members.value(named: name) else { return nil }
    taken.append(name)
    if value == .null { return nil }
    do throws(ParameterError) {
      return try ParameterDecoding.decode(type, from: value, fileDescriptorCount: 0)
    } catch {
      let below = error.parameter.isEmpty || error.parameter.hasPrefix("[") ? "" : "."
      throw ParameterError(parameter: name + below + error.parameter, problem: error.problem)
    }
  }

  mutating func string(_ name: String) throws(ParameterError) -> String { try value(name) }

  mutating func integer(_ name: String) throws(ParameterError) -> Int { try value(name) }

  /// Refuses the fields that nobody has taken, if there are any.
  func end() throws(ParameterError) {
    for member in members where !taken.contains(member.name) {
      throw ParameterError(parameter: member.name, problem: "there is no such field")
    }
  }
}

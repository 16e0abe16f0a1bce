/// The stored form of a struct: a function that creates a value from its parts, and a getter for
/// each part.
///
///     extension Leader: StoredByForm {
///       static let form = Form(Leader.init(pid:startTime:), \.pid, \.startTime)
///     }
///
/// The parts are written and read in the order in which the form lists them. The tests compare each
/// form with the declaration of its type, so that no field is missing.
package final class Form<Value>: Sendable {
  fileprivate let parts: StoredParts
  fileprivate let write: @Sendable (Value, inout StoredWriter) -> Void
  fileprivate let read: @Sendable (inout StoredReader) throws(MalformedBytes) -> Value

  /// Creates the form of a type that is stored field by field.
  package convenience init<each Field: Stored>(
    _ make: @escaping @Sendable (repeat each Field) throws(MalformedBytes) -> Value,
    _ field: repeat @escaping @Sendable (Value) -> each Field
  ) {
    self.init(make, (repeat each field)) { .fields($0) }
  }

  /// Creates the form of a type that is not stored field by field. The `field` functions return the
  /// values that are stored, and `make` computes a value of the type from them.
  package convenience init<each Field: Stored>(
    derived make: @escaping @Sendable (repeat each Field) throws(MalformedBytes) -> Value,
    _ field: repeat @escaping @Sendable (Value) -> each Field
  ) {
    self.init(make, (repeat each field)) { .derived($0) }
  }

  private init<each Field: Stored>(
    _ make: @escaping @Sendable (repeat each Field) throws(MalformedBytes) -> Value,
    _ fields: (repeat @Sendable (Value) -> each Field),
    _ parts: ([any Stored.Type]) -> StoredParts
  ) {
    var types: [any Stored.Type] = []
    for type in repeat (each Field).self { types.append(type) }
    self.parts = parts(types)
    write = { value, writer in
      for field in repeat each fields { field(value).write(to: &writer) }
    }
    read = { (reader) throws(MalformedBytes) in
      try make(repeat try (each Field)(from: &reader))
    }
  }
}

/// One case of a stored enum: its name, and the function that creates the case from its payload.
package struct Case<Value>: Sendable {
  fileprivate let name: String
  fileprivate let types: [any Stored.Type]
  fileprivate let read: @Sendable (inout StoredReader) throws(MalformedBytes) -> Value

  package init<each Field: Stored>(
    _ name: String, _ make: @escaping @Sendable (repeat each Field) -> Value
  ) {
    var types: [any Stored.Type] = []
    for type in repeat (each Field).self { types.append(type) }
    self.name = name
    self.types = types
    read = { (reader) throws(MalformedBytes) in make(repeat try (each Field)(from: &reader)) }
  }

  /// Creates a case without a payload.
  package init(_ name: String, _ value: Value) where Value: Sendable {
    self.name = name
    types = []
    read = { (_) throws(MalformedBytes) in value }
  }
}

/// A type whose stored parts are known, for tests and the documentation.
package protocol StoredByParts: Stored {
  static var parts: StoredParts { get }
}

/// The types of the parts of a value.
package enum StoredParts: Sendable {
  /// The types of the fields that the type declares.
  case fields([any Stored.Type])
  /// The types of the payload of each case.
  case cases([(name: String, payload: [any Stored.Type])])
  /// The types of the values that are stored instead of the fields.
  case derived([any Stored.Type])
}

/// A struct that is stored by a ``Form``.
package protocol StoredByForm: StoredByParts {
  static var form: Form<Self> { get }
}

/// An enum that is stored as the number of its case and the payload.
///
///     extension ExitStatus: StoredByCases {
///       static let cases: [Case<Self>] = [
///         Case("exited", Self.exited), Case("unknown", Self.unknown),
///       ]
///
///       func write(to writer: inout StoredWriter) {
///         switch self {
///         case .exited(let a): writer.write(case: 0, a)
///         case .unknown: writer.write(case: 1)
///         }
///       }
///     }
///
/// The number of a case is its index in `cases`. The compiler refuses a `write` that omits a case,
/// and the tests compare the output of `write` with the list.
package protocol StoredByCases: StoredByParts {
  static var cases: [Case<Self>] { get }
}

/// A type that consists of values of other types, such as a list.
package protocol StoredContainer: Stored {
  static var elements: [any Stored.Type] { get }
}

extension StoredByForm {
  package static var parts: StoredParts { form.parts }

  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self = try Self.form.read(&reader)
  }

  package func write(to writer: inout StoredWriter) {
    Self.form.write(self, &writer)
  }
}

extension StoredByCases {
  package static var parts: StoredParts { .cases(cases.map { ($0.name, $0.types) }) }

  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    let number = Int(try reader.readByte())
    guard number < Self.cases.count else {
      throw MalformedBytes("\(Self.self) has no case \(number)")
    }
    self = try Self.cases[number].read(&reader)
  }
}

extension StoredWriter {
  /// Writes the number of an enum's case and the fields of its payload.
  package mutating func write<each Field: Stored>(case number: UInt8, _ field: repeat each Field) {
    write(byte: number)
    for field in repeat each field { field.write(to: &self) }
  }
}

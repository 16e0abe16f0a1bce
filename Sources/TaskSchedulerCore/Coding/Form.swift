/// The stored form of a type: a function that makes a value of its parts, and a getter of each
/// part.
///
///     extension Leader: StoredByForm {
///       static let form = Form(Leader.init(pid:startTime:), \.pid, \.startTime)
///     }
///
/// Parts are written and read in the order of the list. The tests compare each list with the
/// declaration of its type, so that no field and no case is missing.
package struct Form<Value>: Sendable {
  package let parts: StoredParts
  fileprivate let write: @Sendable (Value, inout StoredWriter) -> Void
  fileprivate let read: @Sendable (inout StoredReader) throws(MalformedBytes) -> Value

  /// Creates the form of a type that is stored field by field.
  package init<each Field: Stored>(
    _ make: @escaping @Sendable (repeat each Field) throws(MalformedBytes) -> Value,
    _ field: repeat @escaping @Sendable (Value) -> each Field
  ) {
    self.init(make, (repeat each field)) { .fields($0) }
  }

  /// Creates the form of a type that is stored as other values, from which the type is computed.
  package init<each Field: Stored>(
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

  /// Creates the form of an enum. The number of a case is its index in the list.
  package init(cases: [Case<Value>]) {
    precondition(cases.count <= 256, "the number of a case is a byte")
    parts = .cases(cases.map { ($0.name, $0.types) })
    write = { value, writer in
      for (number, item) in cases.enumerated()
      where item.write(value, UInt8(number), &writer) { return }
      preconditionFailure("\(Value.self) has a case that its form does not list: \(value)")
    }
    read = { (reader) throws(MalformedBytes) in
      let number = Int(try reader.readByte())
      guard number < cases.count else {
        throw MalformedBytes("\(Value.self) has no case \(number)")
      }
      return try cases[number].read(&reader)
    }
  }
}

/// The types of the parts of a value, for tests and the documentation.
package enum StoredParts: Sendable {
  /// The types of the fields that the type declares.
  case fields([any Stored.Type])
  /// The types of the payload of each case.
  case cases([(name: String, payload: [any Stored.Type])])
  /// The types of the values that a value is computed from, instead of its fields.
  case derived([any Stored.Type])
}

/// One case of an enum, and its payload.
package struct Case<Value>: Sendable {
  fileprivate let name: String
  fileprivate let types: [any Stored.Type]
  /// Writes the value and returns true. If the value is of another case, writes nothing and returns
  /// false.
  fileprivate let write: @Sendable (Value, UInt8, inout StoredWriter) -> Bool
  fileprivate let read: @Sendable (inout StoredReader) throws(MalformedBytes) -> Value

  /// - Parameter payload: Returns the payload of the value; nil if the value is of another case.
  package init<each Field: Stored>(
    _ name: String, _ make: @escaping @Sendable (repeat each Field) -> Value,
    _ payload: @escaping @Sendable (Value) -> (repeat each Field)?
  ) {
    var types: [any Stored.Type] = []
    for type in repeat (each Field).self { types.append(type) }
    self.name = name
    self.types = types
    write = { value, number, writer in
      guard let payload = payload(value) else { return false }
      writer.write(byte: number)
      for field in repeat each payload { field.write(to: &writer) }
      return true
    }
    read = { (reader) throws(MalformedBytes) in make(repeat try (each Field)(from: &reader)) }
  }

  /// A case without a payload.
  package init(_ name: String, _ value: Value) where Value: Equatable & Sendable {
    self.name = name
    types = []
    write = { other, number, writer in
      guard other == value else { return false }
      writer.write(byte: number)
      return true
    }
    read = { (_) throws(MalformedBytes) in value }
  }
}

/// A type that is stored by a ``Form``.
package protocol StoredByForm: Stored {
  static var form: Form<Self> { get }
}

/// A type that consists of values of other types, such as a list.
package protocol StoredContainer: Stored {
  static var elements: [any Stored.Type] { get }
}

extension StoredByForm {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self = try Self.form.read(&reader)
  }

  package func write(to writer: inout StoredWriter) {
    Self.form.write(self, &writer)
  }
}

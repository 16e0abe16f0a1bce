import DequeModule

// The stored form of numbers, texts and collections. ``Stored`` describes the format.

extension Stored where Self: FixedWidthInteger & UnsignedInteger {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    let number = try reader.readNumber()
    guard let value = Self(exactly: number) else {
      throw MalformedBytes("\(number) is not a \(Self.self)")
    }
    self = value
  }

  package func write(to writer: inout StoredWriter) { writer.write(number: UInt64(self)) }
}

extension Stored where Self: FixedWidthInteger & SignedInteger {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    let number = try reader.readNumber()
    let half = Int64(bitPattern: number >> 1)
    let value = number & 1 == 0 ? half : -1 - half
    guard let value = Self(exactly: value) else {
      throw MalformedBytes("\(value) is not a \(Self.self)")
    }
    self = value
  }

  package func write(to writer: inout StoredWriter) {
    let value = Int64(self)
    writer.write(number: UInt64(bitPattern: value << 1 ^ value >> 63))
  }
}

extension UInt64: Stored {}
extension UInt32: Stored {}
extension UInt8: Stored {}
extension Int64: Stored {}
extension Int32: Stored {}
extension Int: Stored {}

extension Bool: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    switch try reader.readByte() {
    case 0: self = false
    case 1: self = true
    case let byte: throw MalformedBytes("\(byte) is neither 0 (false) nor 1 (true)")
    }
  }

  package func write(to writer: inout StoredWriter) { writer.write(byte: self ? 1 : 0) }
}

extension String: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self = try reader.readText()
  }

  package func write(to writer: inout StoredWriter) { writer.write(text: self) }
}

extension Optional: Stored where Wrapped: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self = try Bool(from: &reader) ? Wrapped(from: &reader) : nil
  }

  package func write(to writer: inout StoredWriter) {
    (self != nil).write(to: &writer)
    self?.write(to: &writer)
  }
}

extension StoredReader {
  /// The maximum number of elements for which a collection reserves memory before it reads them.
  /// Damaged bytes may state a count that is far too high. The memory for that many elements may
  /// not be available.
  fileprivate static let reservedMax = 4096
}

extension Array: Stored where Element: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    let count = try reader.readCount()
    self = []
    reserveCapacity(Swift.min(count, StoredReader.reservedMax))
    for _ in 0..<count { append(try Element(from: &reader)) }
  }

  package func write(to writer: inout StoredWriter) {
    writer.write(number: UInt64(count))
    for element in self { element.write(to: &writer) }
  }
}

extension Deque: Stored where Element: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self.init(try [Element](from: &reader))
  }

  package func write(to writer: inout StoredWriter) { Array(self).write(to: &writer) }
}

/// Stored as pairs of a key and a value, ordered by key.
extension Dictionary: Stored where Key: Stored & Comparable, Value: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    let count = try reader.readCount()
    self = [:]
    reserveCapacity(Swift.min(count, StoredReader.reservedMax))
    for _ in 0..<count {
      let key = try Key(from: &reader)
      guard updateValue(try Value(from: &reader), forKey: key) == nil else {
        throw MalformedBytes("\(key) occurs twice")
      }
    }
  }

  package func write(to writer: inout StoredWriter) {
    writer.write(number: UInt64(count))
    for (key, value) in sortedByKey {
      key.write(to: &writer)
      value.write(to: &writer)
    }
  }
}

/// Stored in the same form as a `Dictionary`.
extension BoxedDictionary: Stored where Key: Stored & Comparable, Value: Stored {
  init(from reader: inout StoredReader) throws(MalformedBytes) {
    let count = try reader.readCount()
    self.init()
    reserveCapacity(Swift.min(count, StoredReader.reservedMax))
    for _ in 0..<count {
      let key = try Key(from: &reader)
      guard updateValue(try Value(from: &reader), forKey: key) == nil else {
        throw MalformedBytes("\(key) occurs twice")
      }
    }
  }

  func write(to writer: inout StoredWriter) {
    writer.write(number: UInt64(count))
    for key in keys.sorted() {
      key.write(to: &writer)
      self[key]?.write(to: &writer)
    }
  }
}

/// Stored as the name of the case.
extension Stored where Self: RawRepresentable<String> {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    let name = try reader.readText()
    guard let value = Self(rawValue: name) else {
      throw MalformedBytes("\(Self.self) has no case \(name)")
    }
    self = value
  }

  package func write(to writer: inout StoredWriter) { writer.write(text: rawValue) }
}

/// Stored as the number.
extension Stored where Self: NumberedID {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self.init(try reader.readNumber())
  }

  package func write(to writer: inout StoredWriter) { writer.write(number: number) }
}

/// Stored as whole nanoseconds, the unit of the kernel's clocks.
extension Duration: Stored {
  package init(from reader: inout StoredReader) throws(MalformedBytes) {
    self = .nanoseconds(try Int64(from: &reader))
  }

  package func write(to writer: inout StoredWriter) {
    Int64(clamping: attoseconds / 1_000_000_000).write(to: &writer)
  }
}

extension Optional: StoredContainer where Wrapped: Stored {
  package static var elements: [any Stored.Type] { [Wrapped.self] }
}

extension Array: StoredContainer where Element: Stored {
  package static var elements: [any Stored.Type] { [Element.self] }
}

extension Deque: StoredContainer where Element: Stored {
  package static var elements: [any Stored.Type] { [Element.self] }
}

extension BoxedDictionary: StoredContainer where Key: Stored & Comparable, Value: Stored {
  static var elements: [any Stored.Type] { [Key.self, Value.self] }
}

extension Dictionary: StoredContainer where Key: Stored & Comparable, Value: Stored {
  package static var elements: [any Stored.Type] { [Key.self, Value.self] }
}

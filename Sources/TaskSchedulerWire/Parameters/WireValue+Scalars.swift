import Glibc

// The types of fields that all interfaces use.

extension Bool: WireValue {
  public init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    guard case .bool(let bool) = json else { throw .wanted("a bool", not: json) }
    self = bool
  }

  public func write(to message: inout [UInt8]) { message.append(json: self) }
}

extension Int: WireValue {
  public init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    guard case .integer(let integer) = json else { throw .wanted("an int", not: json) }
    self.init(integer)
  }

  public func write(to message: inout [UInt8]) { message.append(json: Int64(self)) }
}

extension Double: WireValue {
  /// Decodes a float. An int is also accepted, because many programs omit a fraction of zero.
  public init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    switch json {
    case .number(let double):
      guard double.isFinite else {
        throw ParameterError(parameter: "", problem: "the number is too large")
      }
      self = double
    case .integer(let integer): self.init(integer)
    case .null, .bool, .string, .array, .object: throw .wanted("a float", not: json)
    }
  }

  public func write(to message: inout [UInt8]) { message.append(json: self) }
}

extension String: WireValue {
  public init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    guard case .string(var string) = json else { throw .wanted("a string", not: json) }
    let holdsZero = string.withUTF8 { bytes in
      bytes.baseAddress.map { memchr($0, 0, bytes.count) != nil } ?? false
    }
    if holdsZero { throw ParameterError(parameter: "", problem: "the text contains U+0000") }
    self = string
  }

  public func write(to message: inout [UInt8]) { message.append(json: self) }
}

extension Array: WireValue where Element: WireValue {
  public init(reading json: JSONValue, _ context: ReadingContext) throws(ParameterError) {
    guard case .array(let elements) = json else { throw .wanted("an array", not: json) }
    self = []
    reserveCapacity(elements.count)
    for (index, element) in elements.enumerated() {
      do throws(ParameterError) {
        append(try Element(reading: element, context))
      } catch {
        throw error.within("[\(index)]")
      }
    }
  }

  public func write(to message: inout [UInt8]) {
    message.append(UInt8(ascii: "["))
    for (index, element) in enumerated() {
      if index > 0 { message.append(UInt8(ascii: ",")) }
      element.write(to: &message)
    }
    message.append(UInt8(ascii: "]"))
  }
}

/// A field that may contain any value is decoded and encoded unchanged.
extension JSONValue: WireValue {
  public init(reading json: JSONValue, _ context: ReadingContext) { self = json }

  public func write(to message: inout [UInt8]) { message.append(json: self) }
}

/// Appends JSON text to a buffer that the caller keeps and reuses.
extension Array where Element == UInt8 {
  /// Appends the value. Writes an infinity, which the parser returns for a number outside the range
  /// of `Double`, as `1e999` or `-1e999`.
  public mutating func append(json value: JSONValue) {
    switch value {
    case .null: append(literal: "null")
    case .bool(let bool): append(json: bool)
    case .integer(let integer): append(json: integer)
    case .number(let double) where double.isInfinite:
      append(contentsOf: (double < 0 ? "-1e999" : "1e999").utf8)
    case .number(let double): append(json: double)
    case .string(let string): append(json: string)
    case .array(let elements):
      append(UInt8(ascii: "["))
      for (index, element) in elements.enumerated() {
        if index > 0 { append(UInt8(ascii: ",")) }
        append(json: element)
      }
      append(UInt8(ascii: "]"))
    case .object(let members):
      append(UInt8(ascii: "{"))
      for (index, member) in members.enumerated() {
        if index > 0 { append(UInt8(ascii: ",")) }
        append(json: member.name)
        append(UInt8(ascii: ":"))
        append(json: member.value)
      }
      append(UInt8(ascii: "}"))
    }
  }

  /// Appends text that needs no escapes.
  @inline(__always)
  mutating func append(literal text: StaticString) {
    append(contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  mutating func append(json bool: Bool) {
    if bool { append(literal: "true") } else { append(literal: "false") }
  }

  mutating func append(json double: Double) {
    precondition(double.isFinite, "JSON has no number for \(double)")
    append(contentsOf: double.description.utf8)
  }

  mutating func append(json integer: Int64) {
    if integer < 0 { append(UInt8(ascii: "-")) }
    var rest = integer.magnitude
    let end = withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
      var index = 20
      repeat {
        index -= 1
        digits[index] = UInt8(truncatingIfNeeded: 0x30 + rest % 10)
        rest /= 10
      } while rest > 0
      append(contentsOf: UnsafeBufferPointer(rebasing: digits[index..<20]))
      return index
    }
    assert(end >= 0)
  }

  /// Appends the text in quotes, and escapes the characters that JSON requires to be escaped.
  mutating func append(json string: String) {
    append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { bytes in
      var plainStart = 0
      for (index, byte) in bytes.enumerated()
      where byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") {
        append(contentsOf: UnsafeBufferPointer(rebasing: bytes[plainStart..<index]))
        append(escapeOf: byte)
        plainStart = index + 1
      }
      append(contentsOf: UnsafeBufferPointer(rebasing: bytes[plainStart...]))
    }
    append(UInt8(ascii: "\""))
  }

  private mutating func append(escapeOf byte: UInt8) {
    append(UInt8(ascii: "\\"))
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): append(byte)
    case 0x08: append(UInt8(ascii: "b"))
    case 0x09: append(UInt8(ascii: "t"))
    case 0x0A: append(UInt8(ascii: "n"))
    case 0x0C: append(UInt8(ascii: "f"))
    case 0x0D: append(UInt8(ascii: "r"))
    default:
      append(literal: "u00")
      append(0x30 + (byte >> 4))
      append(byte & 0xF < 10 ? 0x30 + (byte & 0xF) : 0x57 + (byte & 0xF))
    }
  }
}

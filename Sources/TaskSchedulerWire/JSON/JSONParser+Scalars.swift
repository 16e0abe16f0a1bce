/// Parses strings and numbers.
extension JSONParser {
  // MARK: - Strings

  /// Parses the string whose opening quote is at `offset`.
  mutating func string() throws(JSONError) -> String {
    let contents = try plainContents()
    if let contents { return try text(contents) }
    return try escapedString()
  }

  /// Returns the bytes between the quotes, and moves `offset` behind the closing quote. If the
  /// string contains an escape, returns nil and does not move `offset`.
  mutating func plainContents() throws(JSONError) -> Range<Int>? {
    let start = offset + 1
    var index = start
    while index < bytes.count {
      let byte = bytes[index]
      if byte == UInt8(ascii: "\"") {
        offset = index + 1
        return start..<index
      }
      if byte == UInt8(ascii: "\\") { return nil }
      if byte < 0x20 {
        throw JSONError(
          offset: index, problem: "a string contains an unescaped control character")
      }
      index += 1
    }
    throw JSONError(offset: index, problem: "the text ends within a string")
  }

  /// Returns the bytes as text, if they are valid UTF-8.
  private func text(_ range: Range<Int>) throws(JSONError) -> String {
    if range.isEmpty { return "" }
    let slice = UnsafeBufferPointer(rebasing: bytes[range])
    // Most text is ASCII. `String(validating:as:)` is slower, because it looks up its generic types
    // for each string.
    if isASCII(slice) { return String(decoding: slice, as: UTF8.self) }
    if let string = String(validating: slice, as: UTF8.self) { return string }
    throw JSONError(
      offset: range.lowerBound + invalidOffset(slice), problem: "the string is not valid UTF-8")
  }

  /// Returns whether all bytes are ASCII. The loop has no early exit, so that the compiled code can
  /// examine many bytes at once.
  private func isASCII(_ slice: UnsafeBufferPointer<UInt8>) -> Bool {
    var all: UInt8 = 0
    for byte in slice { all |= byte }
    return all < 0x80
  }

  private func invalidOffset(_ slice: UnsafeBufferPointer<UInt8>) -> Int {
    var iterator = slice.makeIterator()
    var parser = UTF8.ForwardParser()
    var offset = 0
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let scalar): offset += scalar.count
      case .error, .emptyInput: return offset
      }
    }
  }

  private mutating func escapedString() throws(JSONError) -> String {
    var pieces = ""
    var plainStart = offset + 1
    offset += 1
    while let byte = peek() {
      switch byte {
      case UInt8(ascii: "\""):
        pieces += try text(plainStart..<offset)
        offset += 1
        return pieces
      case UInt8(ascii: "\\"):
        pieces += try text(plainStart..<offset)
        offset += 1
        pieces.unicodeScalars.append(try escape())
        plainStart = offset
      case 0..<0x20:
        throw error("a string contains an unescaped control character")
      default:
        offset += 1
      }
    }
    throw error("the text ends within a string")
  }

  /// Parses the escape whose first byte after the backslash is at `offset`.
  private mutating func escape() throws(JSONError) -> Unicode.Scalar {
    let start = offset - 1
    guard let byte = peek() else { throw error("the text ends within an escape") }
    offset += 1
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): return Unicode.Scalar(byte)
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): break
    default: throw JSONError(offset: start, problem: "no such escape exists")
    }
    let high = try hexadecimal4()
    if let scalar = Unicode.Scalar(high) { return scalar }
    if high < 0xDC00, skip(UInt8(ascii: "\\")), skip(UInt8(ascii: "u")) {
      let low = try hexadecimal4()
      if (0xDC00...0xDFFF).contains(low),
        let scalar = Unicode.Scalar(0x10000 + ((high - 0xD800) << 10 | (low - 0xDC00)))
      {
        return scalar
      }
    }
    throw JSONError(offset: start, problem: "a surrogate lacks the other half of its pair")
  }

  private mutating func hexadecimal4() throws(JSONError) -> UInt32 {
    var value: UInt32 = 0
    for _ in 0..<4 {
      guard let byte = peek() else { throw error("the text ends within an escape") }
      guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue, byte < 0x80 else {
        throw error("\\u takes four hexadecimal digits")
      }
      value = value << 4 | UInt32(digit)
      offset += 1
    }
    return value
  }

  // MARK: - Numbers

  /// Parses the number at `offset`. It is an integer if it has no fraction and no exponent and fits
  /// into 64 bits; otherwise a float.
  mutating func number() throws(JSONError) -> JSONValue {
    let start = offset
    let isNegative = skip(UInt8(ascii: "-"))
    let digitsStart = offset
    var value: Int64 = 0
    var fits = true
    while let byte = peek(), byte >= 0x30, byte <= 0x39 {
      // The loop computes the negative of the number, because the negative range of Int64 is larger
      // by one.
      let (product, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, overflow2) = product.subtractingReportingOverflow(Int64(byte - 0x30))
      if overflow || overflow2 { fits = false }
      value = sum
      offset += 1
    }
    let digits = offset - digitsStart
    if digits == 0 { throw error("a digit was expected") }
    if digits > 1, bytes[digitsStart] == UInt8(ascii: "0") {
      throw JSONError(offset: digitsStart, problem: "a number has a leading zero")
    }
    if try !fractionAndExponent(), fits {
      if isNegative { return .integer(value) }
      if value != .min { return .integer(-value) }
    }
    let text = String(decoding: UnsafeBufferPointer(rebasing: bytes[start..<offset]), as: UTF8.self)
    // A number such as 1e999 is valid JSON and becomes an infinity. No field of a message accepts
    // an infinity.
    return .number(Double(text) ?? (isNegative ? -.infinity : .infinity))
  }

  /// Skips a fraction and an exponent. Returns whether the number has either.
  private mutating func fractionAndExponent() throws(JSONError) -> Bool {
    var isFloat = false
    if skip(UInt8(ascii: ".")) {
      isFloat = true
      try digits()
    }
    if skip(UInt8(ascii: "e")) || skip(UInt8(ascii: "E")) {
      isFloat = true
      if !skip(UInt8(ascii: "+")) { _ = skip(UInt8(ascii: "-")) }
      try digits()
    }
    return isFloat
  }

  private mutating func digits() throws(JSONError) {
    let start = offset
    while let byte = peek(), byte >= 0x30, byte <= 0x39 { offset += 1 }
    if offset == start { throw error("a digit was expected") }
  }
}

/// TOML values without quotes or brackets: numbers, `true` and `false` (TOML 1.0, "Integer",
/// "Float", "Boolean").
enum TOMLBareValue {
  /// Returns whether `text`, without trailing blanks, is a number, `true` or `false`. Dates and
  /// times are not valid here.
  static func isValid(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    while let last = rest.last, last == UInt8(ascii: " ") || last == UInt8(ascii: "\t") {
      rest.removeLast()
    }
    if rest.elementsEqual("true".utf8) || rest.elementsEqual("false".utf8) { return true }
    for (prefix, radix) in [("0x", 16), ("0o", 8), ("0b", 2)] where rest.starts(with: prefix.utf8) {
      rest = rest.dropFirst(2)
      return takeDigits(&rest, radix: radix) != nil && rest.isEmpty
    }
    takeSign(&rest)
    if rest.elementsEqual("inf".utf8) || rest.elementsEqual("nan".utf8) { return true }
    return isDecimal(rest)
  }

  private static func isDecimal(_ text: ArraySlice<UInt8>) -> Bool {
    var rest = text
    guard let whole = takeDigits(&rest, radix: 10) else { return false }
    if whole.count > 1 && whole.first == UInt8(ascii: "0") { return false }
    if rest.first == UInt8(ascii: ".") {
      rest.removeFirst()
      if takeDigits(&rest, radix: 10) == nil { return false }
    }
    if rest.first == UInt8(ascii: "e") || rest.first == UInt8(ascii: "E") {
      rest.removeFirst()
      takeSign(&rest)
      if takeDigits(&rest, radix: 10) == nil { return false }
    }
    return rest.isEmpty
  }

  private static func takeSign(_ rest: inout ArraySlice<UInt8>) {
    if rest.first == UInt8(ascii: "+") || rest.first == UInt8(ascii: "-") { rest.removeFirst() }
  }

  /// Removes the digits at the beginning of `rest`, and returns them. Single underscores may
  /// separate the digits. Returns nil if there are no digits, or if an underscore is in another
  /// place.
  private static func takeDigits(
    _ rest: inout ArraySlice<UInt8>, radix: Int
  ) -> ArraySlice<UInt8>? {
    let underscore = UInt8(ascii: "_")
    let digits = rest.prefix { byte in
      byte == underscore
        || Character(Unicode.Scalar(byte)).hexDigitValue.map { $0 < radix } ?? false
    }
    rest = rest.dropFirst(digits.count)
    guard let first = digits.first, let last = digits.last, first != underscore, last != underscore,
      !zip(digits, digits.dropFirst()).contains(where: { $0 == underscore && $1 == underscore })
    else { return nil }
    return digits
  }
}

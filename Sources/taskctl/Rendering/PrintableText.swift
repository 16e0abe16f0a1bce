/// Text that came from elsewhere, fit for a terminal.
enum PrintableText {
  /// The text with everything that could move the cursor, change a colour or turn the direction of
  /// writing replaced by an escape: `\n`, `\x1b`, `\u202e`.
  static func of(_ text: String) -> String {
    guard text.unicodeScalars.contains(where: isControl) else { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isControl(scalar) {
        result += escape(scalar)
      } else {
        result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  /// C0, DEL and C1, and those of Unicode that break lines or turn the direction of writing.
  static func isControl(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0..<0x20, 0x7f..<0xa0: true
    case 0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069: true
    default: false
    }
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar {
    case "\n": "\\n"
    case "\t": "\\t"
    case "\r": "\\r"
    default:
      scalar.value < 0x100
        ? "\\x" + hexadecimal(scalar.value, digits: 2)
        : "\\u" + hexadecimal(scalar.value, digits: 4)
    }
  }

  static func hexadecimal(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }

  /// The columns that it takes on a terminal: two for what East Asian scripts and emoji use.
  static func columns(_ text: String) -> Int {
    text.reduce(0) { $0 + (isWide($1) ? 2 : 1) }
  }

  private static func isWide(_ character: Character) -> Bool {
    guard let first = character.unicodeScalars.first else { return false }
    if first.properties.isEmojiPresentation { return true }
    switch first.value {
    case 0x1100...0x115f, 0x2e80...0x303e, 0x3041...0xa4cf, 0xac00...0xd7a3, 0xf900...0xfaff,
      0xfe30...0xfe6f, 0xff00...0xff60, 0xffe0...0xffe6, 0x20000...0x3fffd:
      return true
    default: return false
    }
  }
}

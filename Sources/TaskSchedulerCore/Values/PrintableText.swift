/// Escapes untrusted text, such as text from applications, users and files, for terminals, logs and
/// messages.
///
/// Only this type decides which characters are escaped, and how. It escapes characters that control
/// a terminal, break a line, change the direction of text, or are invisible. The form is that of
/// escape sequences in C: `\n`, `\x1b`, `\u202e`, `\U000e0041`.
package enum PrintableText {
  /// Returns the text with its unprintable characters escaped.
  package static func of(_ text: String) -> String {
    if isPlain(text) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
      if isPrintable(scalar) {
        result.unicodeScalars.append(scalar)
      } else {
        result += escape(scalar)
      }
    }
    return result
  }

  /// Returns the text in quotes, with its quotes, backslashes and unprintable characters escaped.
  /// If the text is longer than `lengthMax`, returns only its start, followed by `…`.
  ///
  /// - Parameter lengthMax: The maximum length in Unicode scalars. A character may have any number
  ///   of scalars.
  package static func quoted(_ text: String, lengthMax: Int = 80) -> String {
    let scalars = text.unicodeScalars
    if scalars.count <= lengthMax { return "\"\(literal(text))\"" }
    return "\"\(literal(String(String.UnicodeScalarView(scalars.prefix(lengthMax)))))\"…"
  }

  /// Returns the whole text in quotes, escaped.
  package static func quotedWhole(_ text: String) -> String { "\"\(literal(text))\"" }

  /// Returns whether a terminal shows the scalar as a visible character.
  ///
  /// Returns false for the control characters C0, DEL and C1, and for line and paragraph
  /// separators. Also returns false for invisible scalars: format characters (directional marks,
  /// zero-width characters, tags), variation selectors and fillers.
  package static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7f { return scalar.value >= 0x20 }
    // The soft hyphen (U+00AD) is the only invisible scalar from U+00A0 to U+02FF.
    if scalar.value < 0xa0 || scalar.value == 0xad { return false }
    if scalar.value < 0x300 { return true }
    let properties = scalar.properties
    let invisible: [Unicode.GeneralCategory] = [
      .control, .format, .lineSeparator, .paragraphSeparator,
    ]
    return !invisible.contains(properties.generalCategory)
      && !properties.isDefaultIgnorableCodePoint
  }

  private static func isPlain(_ text: String) -> Bool {
    text.utf8.allSatisfy { $0 >= 0x20 && $0 < 0x7f }
      || text.unicodeScalars.allSatisfy(isPrintable)
  }

  /// Returns the text with quotes and backslashes escaped, in addition to unprintable characters.
  private static func literal(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": result += "\\\""
      case "\\": result += "\\\\"
      case _ where isPrintable(scalar): result.unicodeScalars.append(scalar)
      case _: result += escape(scalar)
      }
    }
    return result
  }

  private static func escape(_ scalar: Unicode.Scalar) -> String {
    switch scalar.value {
    case 0x0a: "\\n"
    case 0x09: "\\t"
    case 0x0d: "\\r"
    case ..<0x100: "\\x" + hexadecimal(scalar.value, digits: 2)
    case ..<0x1_0000: "\\u" + hexadecimal(scalar.value, digits: 4)
    case _: "\\U" + hexadecimal(scalar.value, digits: 8)
    }
  }

  /// Returns a number in lower-case hexadecimal digits, with leading zeros up to `digits` digits.
  package static func hexadecimal(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

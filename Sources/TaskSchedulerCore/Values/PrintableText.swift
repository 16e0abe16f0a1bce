/// Text from outside – of applications, users, files – made fit for terminals, logs and messages.
///
/// The one place that decides which characters are escaped, and how. What steers a terminal, breaks
/// a line, turns the direction of writing, or is not seen at all is shown as an escape of C's kind:
/// `\n`, `\x1b`, `\u202e`, `\U000e0041`.
package enum PrintableText {
  /// Returns the text with escapes in place of what is not printable.
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

  /// Returns the text in quotes, escaped so that it can be told where it ends, and cut to what a
  /// line can hold.
  ///
  /// - Parameter lengthMax: in Unicode scalars; a character may be of any length.
  package static func quoted(_ text: String, lengthMax: Int = 80) -> String {
    let scalars = text.unicodeScalars
    if scalars.count <= lengthMax { return "\"\(literal(text))\"" }
    return "\"\(literal(String(String.UnicodeScalarView(scalars.prefix(lengthMax)))))\"…"
  }

  /// Returns the whole text in quotes, escaped.
  package static func quotedWhole(_ text: String) -> String { "\"\(literal(text))\"" }

  /// False for C0, DEL and C1; for what breaks lines; and for all that has no width or no shape of
  /// its own: format characters (marks of direction, zero-width ones, tags), variation selectors,
  /// fillers.
  package static func isPrintable(_ scalar: Unicode.Scalar) -> Bool {
    if scalar.value < 0x7f { return scalar.value >= 0x20 }
    // Nothing of these is escaped up to the first letters with marks, but for the soft hyphen.
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

  /// As ``of(_:)``, and so that a quote and a backslash are the text's own.
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

  /// Returns a number in lower-case hexadecimal digits, with zeros before it.
  package static func hexadecimal(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}

/// Somebody's text in a message: in quotes, escaped, and cut to what a line can hold.
package enum QuotedText {
  /// - Parameter lengthMax: in Unicode scalars; a character may be of any length.
  package static func of(_ text: String, lengthMax: Int = 80) -> String {
    let scalars = text.unicodeScalars
    if scalars.count <= lengthMax { return escaped(text) }
    return escaped(String(String.UnicodeScalarView(scalars.prefix(lengthMax)))) + "…"
  }

  /// In quotes, with escapes.
  package static func escaped(_ text: String) -> String {
    // Not `debugDescription`, of which a library may give String another, that escapes nothing.
    printable(String(reflecting: text))
  }

  /// With escapes for all that could break a line, steer a terminal or turn the direction of
  /// writing. Swift's own escapes leave out what is beyond ASCII.
  package static func printable(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar.properties.generalCategory {
      case .control, .format, .lineSeparator, .paragraphSeparator:
        result += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
      case _: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }
}

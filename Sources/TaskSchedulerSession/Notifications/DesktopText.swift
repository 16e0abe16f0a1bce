/// Functions that prepare applications' texts for D-Bus and for display.
///
/// D-Bus does not allow NUL, and sd-bus refuses Unicode noncharacters. A notification service must
/// not receive megabytes of text.
enum DesktopText {
  static let titleBytesMax = 1024
  static let bodyBytesMax = 8192
  /// The maximum length of names of applications, sounds and categories, in bytes. It equals the
  /// longest path (PATH_MAX without the final NUL).
  static let nameBytesMax = 4095

  /// Returns the text as one line of at most `bytesMax` bytes in UTF-8.
  static func line(_ text: String, bytesMax: Int) -> String {
    bounded(text, bytesMax: bytesMax, newline: " ")
  }

  /// Returns the text, with its line feeds, in at most `bytesMax` bytes in UTF-8.
  static func lines(_ text: String, bytesMax: Int) -> String {
    bounded(text, bytesMax: bytesMax, newline: "\n")
  }

  /// Escapes a text for use in markup.
  static func escaped(_ text: String) -> String {
    var result = ""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "&": result += "&amp;"
      case "<": result += "&lt;"
      case ">": result += "&gt;"
      case _: result.unicodeScalars.append(scalar)
      }
    }
    return result
  }

  private static let ellipsis = "…"

  /// Returns the text in at most `bytesMax` bytes. If the text is longer, cuts it between Unicode
  /// scalars, because a grapheme cluster can have any length.
  private static func bounded(_ text: String, bytesMax: Int, newline: Unicode.Scalar) -> String {
    var bytes = 0
    var result = String.UnicodeScalarView()
    var previous: Unicode.Scalar = " "
    for scalar in text.unicodeScalars where bytes <= bytesMax {
      defer { previous = scalar }
      // Omit the line feed of a CR LF pair, because the carriage return has become a newline.
      if scalar == "\n", previous == "\r" { continue }
      let written = replacement(of: scalar, newline: newline)
      bytes += UTF8.width(written)
      result.append(written)
    }
    guard bytes > bytesMax else { return String(result) }
    while bytes > bytesMax - ellipsis.utf8.count, let last = result.popLast() {
      bytes -= UTF8.width(last)
    }
    return String(result) + ellipsis
  }

  private static func replacement(
    of scalar: Unicode.Scalar, newline: Unicode.Scalar
  ) -> Unicode.Scalar {
    switch scalar.value {
    case 0x0A, 0x0D, 0x2028, 0x2029: newline
    case 0x09: " "
    case 0..<0x20, 0x7F..<0xA0, 0xFDD0...0xFDEF: "\u{FFFD}"
    case let value where value & 0xFFFE == 0xFFFE: "\u{FFFD}"
    case _: scalar
    }
  }
}

/// Applications' texts, made fit for other programs' eyes: D-Bus takes no NUL and sd-bus nothing
/// that Unicode says is no character, and no service is to draw megabytes.
enum DesktopText {
  static let titleBytesMax = 1024
  static let bodyBytesMax = 8192
  /// Of names of applications, sounds and categories; paths of sounds are no longer either
  /// (PATH_MAX).
  static let nameBytesMax = 4095

  /// One line, of `bytesMax` bytes in UTF-8 at most.
  static func line(_ text: String, bytesMax: Int) -> String {
    bounded(text, bytesMax: bytesMax, newline: " ")
  }

  /// Lines, of `bytesMax` bytes in UTF-8 in all at most.
  static func lines(_ text: String, bytesMax: Int) -> String {
    bounded(text, bytesMax: bytesMax, newline: "\n")
  }

  /// As markup that shows the text as it is.
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

  /// Cut between scalars, for a character may be of any length.
  private static func bounded(_ text: String, bytesMax: Int, newline: Unicode.Scalar) -> String {
    var bytes = 0
    var result = String.UnicodeScalarView()
    var previous: Unicode.Scalar = " "
    for scalar in text.unicodeScalars where bytes <= bytesMax {
      defer { previous = scalar }
      // The second half of a line's end as on Windows.
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

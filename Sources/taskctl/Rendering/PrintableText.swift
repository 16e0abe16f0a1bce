import TaskSchedulerCore

/// Text from an untrusted source, escaped for a terminal. The implementation is in
/// `TaskSchedulerCore`, so that all programs escape the same characters.
typealias PrintableText = TaskSchedulerCore.PrintableText

extension PrintableText {
  /// Returns the number of terminal columns: two for East Asian wide characters and emoji.
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

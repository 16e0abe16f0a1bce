import FoundationEssentials

/// The `--json` form of what the daemon sent: its own objects, on one line, keys in order.
enum JSONOutput {
  /// The text with its end of line. Fields that are null are left out, as on the wire.
  static func line(_ value: some Encodable) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
      return escaped(String(decoding: try encoder.encode(value), as: UTF8.self)) + "\n"
    } catch {
      fatalError("the interface's types can be written as JSON: \(error)")
    }
  }

  /// JSON itself leaves DEL, C1 and what is not seen as they are; they stand only inside strings.
  private static func escaped(_ json: String) -> String {
    json.unicodeScalars.reduce(into: "") { text, scalar in
      if PrintableText.isPrintable(scalar) {
        text.unicodeScalars.append(scalar)
      } else {
        for unit in String(scalar).utf16 {
          text += "\\u" + PrintableText.hexadecimal(UInt32(unit), digits: 4)
        }
      }
    }
  }
}

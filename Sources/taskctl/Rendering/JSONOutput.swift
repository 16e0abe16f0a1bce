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

  /// JSON itself leaves DEL and C1 as they are; they stand only inside strings.
  private static func escaped(_ json: String) -> String {
    guard json.unicodeScalars.contains(where: PrintableText.isControl) else { return json }
    return json.unicodeScalars.reduce(into: "") { text, scalar in
      if PrintableText.isControl(scalar) {
        text += "\\u" + PrintableText.hexadecimal(scalar.value, digits: 4)
      } else {
        text.unicodeScalars.append(scalar)
      }
    }
  }
}

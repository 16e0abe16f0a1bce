import TaskSchedulerWire

/// Parses JSON. The parser must either refuse the text with a position inside the text, or return a
/// value that is unchanged after writing and parsing it again.
enum JSONTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let value: JSONValue
    do {
      value = try JSONParser.parse(input)
    } catch {
      try require(
        (0...input.count).contains(error.offset),
        "the error names a position outside of the text: \(error)")
      return
    }
    var text: [UInt8] = []
    text.append(json: value)
    try require(!text.contains(0), "the written value contains a NUL, which ends a message")
    do {
      let again = try JSONParser.parse(text)
      try require(again == value, "\(value) was read back as \(again)")
    } catch let error as JSONError {
      throw Finding(description: "the parser refuses the text of \(value): \(error)")
    }
  }
}

import TaskSchedulerWire

/// Parses an interface description.
enum InterfaceTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let text = String(decoding: input, as: UTF8.self)
    do {
      let description = try InterfaceDescription(text: text)
      try require(description.text == text, "the description differs from the parsed text")
      let names =
        description.types.map(\.name) + description.methods.map(\.name)
        + description.errors.map(\.name)
      try require(Set(names).count == names.count, "a name is declared twice: \(names)")
    } catch let error as InterfaceTextError {
      let lineCount = 1 + text.utf8.count { $0 == 0x0A }
      try require(
        (1...lineCount).contains(error.line), "the error names a line outside of the text: \(error)"
      )
    }
  }
}

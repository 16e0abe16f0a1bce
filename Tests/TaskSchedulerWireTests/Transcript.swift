import Testing

@testable import TaskSchedulerWire

/// A conversation over a connection, as text. The owner is the code that uses the connection. Each
/// line is one step:
///
///     > {…}          a message arrives
///     = METHOD {…}   the owner receives a call; `+more` or `+oneway` may follow the method
///     . {…}          the owner answers; with `..`, it announces another answer
///     ! NAME {…}     the owner answers with an error, or a client receives an error
///     < {…}          the connection sends a message
///     busy | idle    a call waits, or none waits
///     x REASON       the owner must close the connection; the reason contains this text
///
/// A line that starts with `#` is a comment. A line that starts with `\` continues the line before.
struct Transcript {
  struct Step {
    let mark: String
    var text: String
    let line: Int
  }

  let steps: [Step]

  init(_ text: String) {
    var steps: [Step] = []
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let parts = line.split(separator: " ", maxSplits: 1)
      guard let mark = parts.first, !mark.hasPrefix("#") else { continue }
      let text = parts.count > 1 ? String(parts[1]) : ""
      if mark == "\\" {
        steps[steps.count - 1].text += text
      } else {
        steps.append(Step(mark: String(mark), text: text, line: index + 1))
      }
    }
    self.steps = steps
  }

  /// Returns the messages in the sent bytes.
  static func messages(_ bytes: [UInt8]) -> [String] {
    bytes.split(separator: 0).map { String(decoding: $0, as: UTF8.self) }
  }

  /// Splits the text of a step into the first word and the JSON value after it.
  static func wordAndValue(_ text: String) throws -> (word: String, value: JSONValue) {
    let parts = text.split(separator: " ", maxSplits: 1)
    let value = try parts.count > 1 ? JSONParser.parse(Array(parts[1].utf8)) : .object([])
    return (String(parts[0]), value)
  }
}

/// An error of a service, with any name and parameters.
struct NamedFailure: MethodFailure {
  let name: String
  let parameters: JSONValue
}

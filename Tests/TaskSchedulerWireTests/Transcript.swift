import Testing

@testable import TaskSchedulerWire

/// A conversation, one line a step, in the order in which they happen:
///
///     > {…}          a message comes in
///     = METHOD {…}   a call is handed out, `+more` or `+oneway` behind the method
///     . {…}          the owner answers; `..` announces another answer
///     ! NAME {…}     the owner answers with an error; a client: an error comes in
///     < {…}          a message goes out
///     busy | idle    whether a call waits
///     x REASON       the connection is to be closed; the reason contains this
///
/// Lines that start with `#` are comments; one that starts with `\` goes on with the line before.
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

  /// The first word and, behind it, the JSON.
  static func wordAndValue(_ text: String) throws -> (word: String, value: JSONValue) {
    let parts = text.split(separator: " ", maxSplits: 1)
    let value = try parts.count > 1 ? JSONParser.parse(Array(parts[1].utf8)) : .object([])
    return (String(parts[0]), value)
  }
}

/// An error of a service, by its name.
struct NamedFailure: MethodFailure {
  let name: String
  let parameters: JSONValue
}

/// Finds negative numbers in a command line of `remote` and `post-location`.
///
/// The parser would read `-10` as two options. After `--`, it reads every word as a value.
enum NegativeNumbers {
  private static let commands: Set<String> = ["remote", "post-location"]
  /// The options of these commands that take the next word as their value.
  static let optionsWithValue: Set<String> = [
    "--socket", "--owner", "--accuracy", "--altitude", "--speed", "--course", "--gpx",
    "--speed-factor",
  ]

  /// Returns the arguments in a new order: at the end are `--`, the first negative number, and the
  /// values that followed this number.
  static func terminated(_ arguments: [String]) -> [String] {
    if arguments.contains("--") { return arguments }
    var (words, values): ([String], [String]) = ([], [])
    var command: String?
    var isOfOption = false
    for word in arguments {
      let isNegative = isNegativeNumber(word)
      let isValue = !isOfOption && (isNegative || !word.hasPrefix("-"))
      if isValue, command == nil { command = word }
      if isValue, isNegative || !values.isEmpty {
        values.append(word)
      } else {
        words.append(word)
      }
      isOfOption = !isOfOption && optionsWithValue.contains(word)
    }
    guard let command, commands.contains(command), !values.isEmpty else { return arguments }
    return words + ["--"] + values
  }

  private static func isNegativeNumber(_ word: String) -> Bool {
    word.hasPrefix("-") && Double(word) != nil
  }
}

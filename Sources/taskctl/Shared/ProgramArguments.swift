/// Finds the program in a command line of `run` or `task`.
///
/// As with nice, timeout and systemd-run, the first word that is not an option of taskctl is the
/// program, and all words after it are arguments of the program.
enum ProgramArguments {
  private static let commands: Set<String> = ["run", "task"]
  /// The options of taskctl, `run` and `task` that take the next word as their value.
  static let optionsWithValue: Set<String> = ["--socket", "--id", "--mode", "--name"]

  /// Returns the arguments with `--` before the program. Inserts the `--` if it is missing.
  static func terminated(_ arguments: [String]) -> [String] {
    guard let place = place(in: arguments), !place.isAfterTerminator else { return arguments }
    return arguments[..<place.index] + ["--"] + arguments[place.index...]
  }

  /// Returns the index of the program, or the index at which a missing program would stand.
  static func index(in arguments: [String]) -> Int? { place(in: arguments)?.index }

  private static func place(in arguments: [String]) -> (index: Int, isAfterTerminator: Bool)? {
    var isOfCommand = false
    var index = 0
    while index < arguments.count {
      let word = arguments[index]
      if word == "--" { return isOfCommand ? (index + 1, true) : nil }
      if optionsWithValue.contains(word) {
        index += 1
      } else if !word.hasPrefix("-") || word == "-" {
        if isOfCommand { return (index, false) }
        guard commands.contains(word) else { return nil }
        isOfCommand = true
      }
      index += 1
    }
    return nil
  }
}

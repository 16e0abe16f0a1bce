/// Where the program begins in a command line of `run` or `task`.
///
/// As with nice, timeout and systemd-run, the first word that is no option of taskctl is the
/// program, and all words after it are the program's arguments.
enum ProgramWords {
  private static let commands: Set<String> = ["run", "task"]
  /// The options of taskctl, of `run` and of `task` whose value is the next word.
  static let optionsWithValue: Set<String> = ["--socket", "--id", "--mode", "--name"]

  /// The arguments with `--` before the program, where there is a program without it.
  static func terminated(_ arguments: [String]) -> [String] {
    guard let place = place(in: arguments), !place.isAfterTerminator else { return arguments }
    return arguments[..<place.index] + ["--"] + arguments[place.index...]
  }

  /// The index of the program among arguments of `run` or `task`, also where it is still missing.
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

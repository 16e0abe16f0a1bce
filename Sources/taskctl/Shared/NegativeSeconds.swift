/// Finds a negative number in a command line of `remote`.
///
/// The parser would read `-10` as two options. After `--`, it reads every word as a value.
enum NegativeSeconds {
  /// Returns the arguments with a negative number at the end, after `--`.
  static func terminated(_ arguments: [String]) -> [String] {
    guard arguments.first == "remote", !arguments.contains("--"),
      let index = arguments.firstIndex(where: isNegativeNumber)
    else { return arguments }
    var arguments = arguments
    let number = arguments.remove(at: index)
    return arguments + ["--", number]
  }

  private static func isNegativeNumber(_ word: String) -> Bool {
    word.hasPrefix("-") && Double(word) != nil
  }
}

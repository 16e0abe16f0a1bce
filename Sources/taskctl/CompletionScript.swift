/// The completion scripts that the argument parser generates. This type extends them, so that the
/// shell also completes the names of the commands after `taskctl help`.
enum CompletionScript {
  /// The names of the commands.
  static var commands: [String] {
    Taskctl.configuration.subcommands.compactMap { $0.configuration.commandName } + ["help"]
  }

  /// Returns the text to print. If `arguments` request a completion script, returns the extended
  /// script; otherwise returns `text`.
  static func completed(_ text: String, _ arguments: [String]) -> String {
    guard arguments.first == "--generate-completion-script" else { return text }
    let names = commands.joined(separator: " ")
    if text.hasPrefix("#!/bin/bash") {
      return text.replacing(
        after: "_taskctl_help() {", "__taskctl_offer_flags_options -1",
        with: "__taskctl_offer_flags_options -1\n"
          + "    COMPREPLY+=($(compgen -W '\(names)' -- \"${cur}\"))")
    }
    if text.hasPrefix("#compdef") {
      return text.replacing(
        after: "_taskctl_help() {", "'*:subcommands:'", with: "'*:command:(\(names))'")
    }
    return text
      + "\ncomplete -c 'taskctl' -n '__taskctl_should_offer_completions_for_positional"
      + " \"taskctl help\" -ge 1' -fa '\(names)'"
  }
}

extension String {
  /// Returns the text with the first occurrence of `part` after `mark` replaced.
  fileprivate func replacing(after mark: String, _ part: String, with other: String) -> String {
    guard let start = firstRange(of: mark)?.upperBound,
      let range = self[start...].firstRange(of: part)
    else { return self }
    return self[..<range.lowerBound] + other + self[range.upperBound...]
  }
}

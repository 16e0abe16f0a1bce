import ArgumentParser

/// The exit codes of `taskctl simulate`, in addition to those of every command.
enum SimulationExit {
  static let violation = ExitCode(4)
  static let canaryNotCaught = ExitCode(5)
  static let notDeterministic = ExitCode(6)
  static let trapped = ExitCode(7)
}

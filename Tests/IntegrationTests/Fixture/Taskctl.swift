import LinuxSystem
import TaskSchedulerWire
import TestSupport

extension DaemonFixture {
  /// Starts taskctl for this daemon. Its standard output and standard error share one pipe.
  func startTaskctl(_ arguments: [String]) throws -> TestProcess {
    try TestProcess(
      "/bin/sh",
      ["sh", "-c", "exec \"$0\" \"$@\" 2>&1", Programs.path(of: "taskctl")] + arguments
    ) { $0.environment = environment().map { SystemString($0) } }
  }

  /// Runs taskctl to its end. Returns its standard output and standard error as one text.
  func taskctl(_ arguments: String...) throws -> (exit: ProcessExit?, text: String) {
    let program = try startTaskctl(arguments)
    let text = try program.remainingText()
    return (try program.waitForExit(), text)
  }

  /// Returns the output of taskctl with `--json`.
  func taskctlJSON(_ arguments: String...) throws -> JSONValue {
    let program = try startTaskctl(arguments + ["--json"])
    return try JSONParser.parse(Array(try program.remainingText().utf8.dropLast()))
  }
}

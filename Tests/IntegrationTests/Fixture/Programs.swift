import Glibc
import LinuxSystem
import TestSupport

/// The paths of the programs. The build places them beside the test runner.
enum Programs {
  static let folder: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    let program = String(
      decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "/" + program.split(separator: "/").dropLast().joined(separator: "/")
  }()

  static func path(of program: String) -> String { "\(folder)/\(program)" }

  /// The package's root, four components above this file
  /// (Tests/IntegrationTests/Fixture/Programs.swift).
  static let root =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  /// Returns the text of a file of the package. Tests pass this text to programs of other users,
  /// which may not be allowed to read the file.
  static func text(of path: String) throws -> String {
    String(decoding: try FileDescriptor.open(reading: "\(root)/\(path)").readToEnd(), as: UTF8.self)
  }

  static func resource(_ name: String) throws -> String {
    try text(of: "Tests/IntegrationTests/Resources/\(name)")
  }

  /// The path of a Python interpreter with the packages of scripts/requirements.txt. It may not
  /// exist.
  static let python: String =
    getenv("TASKSCHEDD_TEST_PYTHON").map { String(cString: $0) } ?? "\(root)/.venv/bin/python"
}

/// Waits until a condition holds, without sleeping: another process uses the CPU between two
/// checks.
///
/// - Throws: ETIMEDOUT when the deadline passes first.
func waitUntil(_ what: String, _ isReached: () throws -> Bool) throws {
  let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
  while try !isReached() {
    guard BootClock.now() < end else { throw SystemError(call: what, errno: ETIMEDOUT) }
    try beBusy(milliseconds: 5)
  }
}

/// Runs another process until it has used the given CPU time. This takes longer on a busy machine,
/// so all other processes can run meanwhile.
func beBusy(milliseconds: Int) throws {
  let program = "import time\nwhile time.process_time() < float(\(milliseconds)) / 1000: pass"
  _ = try TestProcess.python(program).waitForExit()
}

/// The error that a program's output has ended although the test expects more.
struct OutputEnded: Error {
  let pid: Int32
  /// The exit of the program; nil if it still runs, or if another caller has waited for it.
  let exit: ProcessExit?
}

extension TestProcess {
  /// Returns the next line of output, or throws if the output has ended.
  func nextLine() throws -> String {
    guard let line = try readLine() else {
      throw OutputEnded(pid: pid, exit: try? waitForExit(within: .seconds(2)))
    }
    return line
  }

  /// Returns the pid on the next line of output.
  func nextPID() throws -> Int32 { try unwrap(Int32(try nextLine())) }

  /// Returns all remaining output, until the program closes it.
  func remainingText() throws -> String {
    var text = ""
    while let line = try readLine() { text += line + "\n" }
    return text
  }
}

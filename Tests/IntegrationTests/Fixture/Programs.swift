import Glibc
import LinuxSystem
import TestSupport

/// Where the programs are: those that were built lie beside the one that runs the tests.
enum Programs {
  static let folder: String = {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    let program = String(
      decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return "/" + program.split(separator: "/").dropLast().joined(separator: "/")
  }()

  static func path(of program: String) -> String { "\(folder)/\(program)" }

  /// The package's root: this file is Tests/IntegrationTests/Fixture/Programs.swift.
  static let root =
    "/" + #filePath.split(separator: "/").dropLast(4).joined(separator: "/")

  /// The text of a file of the package, which other users may not be able to read for themselves.
  static func text(of path: String) throws -> String {
    String(decoding: try FileDescriptor.open(reading: "\(root)/\(path)").readToEnd(), as: UTF8.self)
  }

  static func resource(_ name: String) throws -> String {
    try text(of: "Tests/IntegrationTests/Resources/\(name)")
  }

  /// A Python that may have the packages of scripts/requirements.txt.
  static let python: String =
    getenv("TASKSCHEDD_TEST_PYTHON").map { String(cString: $0) } ?? "\(root)/.venv/bin/python"
}

/// Waits, without sleeping, until what a loop looks at has come about: another process is busy
/// between two looks.
///
/// - Throws: ETIMEDOUT when the deadline passes first.
func waitUntil(_ what: String, _ isReached: () throws -> Bool) throws {
  let end = BootClock.now() + UInt64(deadline.components.seconds) * 1_000_000_000
  while try !isReached() {
    guard BootClock.now() < end else { throw SystemError(call: what, errno: ETIMEDOUT) }
    try beBusy(milliseconds: 5)
  }
}

/// Another process uses that much CPU time: so that every runnable process can run.
func beBusy(milliseconds: Int) throws {
  let program = "import time\nwhile time.process_time() < float(\(milliseconds)) / 1000: pass"
  _ = try TestProcess.python(program).waitForExit()
}

/// A program wrote no more, though more was expected.
struct OutputEnded: Error {
  let pid: Int32
  /// nil where it has not ended, or someone else has waited for it.
  let exit: ProcessExit?
}

extension TestProcess {
  /// The next line that it writes; an error where its output has ended.
  func nextLine() throws -> String {
    guard let line = try readLine() else {
      throw OutputEnded(pid: pid, exit: try? waitForExit(within: .seconds(2)))
    }
    return line
  }

  /// The next line, which is a pid.
  func nextPID() throws -> Int32 { try unwrap(Int32(try nextLine())) }

  /// All lines that are left, until it closes its output.
  func remainingText() throws -> String {
    var text = ""
    while let line = try readLine() { text += line + "\n" }
    return text
  }
}

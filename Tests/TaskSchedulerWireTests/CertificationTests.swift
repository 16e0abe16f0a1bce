import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerWire

/// Varlink's standard client, which is in the PyPI package `varlink`. The environment variable
/// `TASKSCHEDD_TEST_PYTHON` names a Python that has this package. Without the variable, the test
/// uses `.venv/bin/python` below the root of the project.
private enum StandardClient {
  static let python: String = {
    if let python = getenv("TASKSCHEDD_TEST_PYTHON") { return String(cString: python) }
    let root = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
    return "/\(root)/.venv/bin/python"
  }()

  static let isInstalled: Bool = {
    let probe = try? run("-c", "import varlink.tests.test_certification")
    return probe?.status == .ended(.exited(code: 0))
  }()

  static func run(_ arguments: String...) throws -> (status: ChildChange?, text: String) {
    // Joins both output streams, so that the message of a failed test shows all output.
    let process = try TestProcess(
      "/bin/sh", ["sh", "-c", "exec \"$0\" \"$@\" 2>&1", python] + arguments)
    var text = ""
    while let line = try process.readLine() { text += line + "\n" }
    return (try process.pidfd.wait(.leave), text)
  }
}

@Suite("Independent implementations of Varlink work with the server")
struct CertificationTests {
  /// The path of the server, which is in the directory of the program that runs the tests.
  private static var serverPath: String {
    var path = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink("/proc/self/exe", &path, path.count)
    let program = String(
      decoding: path[..<max(0, count)].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    return program.split(separator: "/").dropLast().map { "/" + $0 }.joined()
      + "/CertificationServer"
  }

  /// Runs the body with the address of a new server.
  private func withServer(_ body: (String) throws -> Void) throws {
    let folder = TemporaryDirectory()
    let socket = folder.file("socket")
    let server = try TestProcess(Self.serverPath, ["CertificationServer", socket])
    try #require(try server.readLine() == "ready")
    try body("unix:\(socket)")
  }

  @Test(
    "The standard certification client passes against the server",
    .enabled(
      if: StandardClient.isInstalled,
      "\(StandardClient.python) has no varlink: pip install varlink==31.0.0 there"))
  func certification() throws {
    try withServer { address in
      let result = try StandardClient.run(
        "-m", "varlink.tests.test_certification", "--client", "--varlink=\(address)")
      #expect(result.status == .ended(.exited(code: 0)), "\(result.text)")
      #expect(result.text.contains("Certification passed"), "\(result.text)")
      #expect(result.text.contains("End: {'all_ok': True}"), "\(result.text)")
    }
  }

  @Test(
    "The standard command line client lists and prints the interface",
    .enabled(
      if: StandardClient.isInstalled,
      "\(StandardClient.python) has no varlink: pip install varlink==31.0.0 there"))
  func introspection() throws {
    try withServer { address in
      let help = try StandardClient.run(
        "-m", "varlink.cli", "help", "\(address)/org.varlink.certification")
      #expect(help.status == .ended(.exited(code: 0)), "\(help.text)")
      #expect(help.text.contains("method Test09"), "\(help.text)")
      let info = try StandardClient.run("-m", "varlink.cli", "info", address)
      #expect(info.text.contains("certification server"), "\(info.text)")
    }
  }
}

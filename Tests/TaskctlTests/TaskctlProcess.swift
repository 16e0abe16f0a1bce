import Glibc
import LinuxSystem
import TestSupport
import Testing

/// The real taskctl as a child of the test.
final class TaskctlProcess {
  /// The output and the exit of taskctl.
  struct Outcome {
    var code: Int32
    var output: String
    var errors: String
  }

  let process: TestProcess
  private let errorsPath: String
  private let directory: TemporaryDirectory

  /// Returns the path of taskctl, which the build places beside the test's own executable.
  static func path() throws -> String {
    var buffer = [CChar](repeating: 0, count: 4096)
    let count = readlink("/proc/self/exe", &buffer, buffer.count)
    try #require(count > 0)
    let own = String(decoding: buffer[..<count].map { UInt8(bitPattern: $0) }, as: UTF8.self)
    let folder = own.split(separator: "/", omittingEmptySubsequences: false).dropLast()
    return folder.joined(separator: "/") + "/taskctl"
  }

  /// - Parameters:
  /// - path: the value of PATH.
  /// - uid: the user that runs taskctl; nil for the user of the tests.
  /// - withoutTerminal: whether to run taskctl without a controlling terminal even if the tests
  ///   have one. SIGTSTP then stops no program.
  init(
    _ arguments: [String], socket: String?, path: String = "/usr/bin:/bin", uid: UInt32? = nil,
    withoutTerminal: Bool = false
  ) throws {
    directory = TemporaryDirectory()
    errorsPath = directory.file("errors")
    let errors = try FileDescriptor.createForTest(errorsPath)
    process = try TestProcess(Self.path(), ["taskctl"] + arguments) { request in
      request.environment = ["TZ=UTC", SystemString("PATH=\(path)")]
      if let socket { request.environment.append(SystemString("TASKSCHEDD_SOCKET=\(socket)")) }
      request.stdio.error = errors.rawValue
      if withoutTerminal {
        request.processGroup = nil
        request.newSession = true
      }
      if let uid { request.identity = .init(uid: uid, gid: uid, groups: []) }
    }
  }

  /// Waits for the end of taskctl, and returns the rest of its output and its exit.
  func outcome() throws -> Outcome {
    var output = ""
    while let line = try process.readLine() { output += line + "\n" }
    try waitFor(POLLIN, on: process.pidfd.rawValue)
    // Leaves taskctl as a zombie, because the deinitializer of `process` reaps it.
    guard case .ended(let status) = try process.pidfd.wait(.leave) else {
      throw SystemError(call: "waitid", errno: ECHILD)
    }
    return Outcome(code: status.shellCode, output: output, errors: try errors())
  }

  /// Returns the text so far on the standard error of taskctl.
  func errors() throws -> String {
    let file = try FileDescriptor.open(reading: errorsPath)
    return String(decoding: try file.readToEnd(), as: UTF8.self)
  }
}

extension FileDescriptor {
  static func createForTest(_ path: String) throws -> FileDescriptor {
    let number = creat(path, 0o600)
    try #require(number >= 0)
    return FileDescriptor(taking: number)
  }
}

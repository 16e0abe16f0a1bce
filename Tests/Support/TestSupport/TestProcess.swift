import Glibc
import LinuxSystem

/// A real process in a new process group. When the value is destroyed, the group is killed and the
/// process is reaped. `writeLine` writes to the process's standard input.
public final class TestProcess: Sendable {
  public let pid: Int32
  public let pidfd: PIDFD
  private let input: FileDescriptor
  private let output: FileDescriptor

  /// Runs a shell script.
  ///
  /// - Parameter script: the script for sh. `readLine` returns its standard output.
  public static func shell(
    _ script: String, configure: (inout SpawnRequest) -> Void = { _ in }
  ) throws -> TestProcess {
    try TestProcess("/bin/sh", ["sh", "-c", script], configure: configure)
  }

  /// Runs a Python program, in isolated mode.
  public static func python(
    _ program: String, _ arguments: [String] = [],
    configure: (inout SpawnRequest) -> Void = { _ in }
  ) throws -> TestProcess {
    try TestProcess(
      "/usr/bin/python3", ["python3", "-I", "-u", "-c", program] + arguments, configure: configure)
  }

  public init(
    _ path: String, _ arguments: [String], configure: (inout SpawnRequest) -> Void = { _ in }
  ) throws {
    let (reading, writing) = try FileDescriptor.pipe().ends()
    output = FileDescriptor(taking: reading)
    let childsOutput = FileDescriptor(taking: writing)
    var request = SpawnRequest(
      path: path, arguments: arguments, environment: ["PATH=/usr/bin:/bin"])
    request.stdio.output = childsOutput.rawValue
    // The standard input is a socket, because writing to the pipe of a process that ended would
    // raise SIGPIPE.
    let (inputReading, inputWriting) = try UnixSocket.pair().ends()
    let childsInput = FileDescriptor(taking: inputReading)
    input = FileDescriptor(taking: inputWriting)
    request.stdio.input = childsInput.rawValue
    request.processGroup = 0
    configure(&request)
    pidfd = try HeldChild.spawn(request).releaseAndWaitForExec()
    pid = pidfd.pid
  }

  deinit {
    // Kills nothing if the process was reaped, because its number may belong to another group now.
    // `isRunning` comes first, so that a process that ends between the two checks is reaped, too.
    // Its zombie would hide ends of other processes from swift-testing's waitid(P_ALL, WNOWAIT).
    guard isRunning || (try? pidfd.wait([.nonblocking, .leave])) != nil else { return }
    end()
    _ = try? pidfd.wait()
  }

  /// Waits until the process ends, kills the rest of its group, and reaps it.
  ///
  /// - Throws: ETIMEDOUT if the deadline passes first.
  public func waitForExit(within limit: Duration = deadline) throws -> ProcessExit? {
    try waitFor(POLLIN, on: pidfd.rawValue, within: limit)
    end()
    guard case .ended(let status) = try pidfd.wait() else { return nil }
    return status
  }

  private var isRunning: Bool { (try? pidfd.hasEnded()) == false }

  private func end() {
    kill(-pid, SIGKILL)
    _ = try? pidfd.send(signal: SIGKILL)
  }

  /// Writes a short line to the process's standard input. Does not fail if the process has ended.
  public func writeLine(_ line: String) throws {
    var text = line + "\n"
    try text.withUTF8 { _ = try UnixSocket.send(input.rawValue, UnsafeRawBufferPointer($0)) }
  }

  /// Whether there is unread output, or the process has closed its output.
  public var hasWritten: Bool {
    get throws(SystemError) {
      try Readiness.wait(for: Int16(POLLIN), on: output.rawValue, timeout: .zero) != 0
    }
  }

  /// Returns the next line of output without its end, or nil at the end of the output.
  ///
  /// - Throws: ETIMEDOUT if the deadline passes first.
  public func readLine(within limit: Duration = deadline) throws -> String? {
    let end = BootClock.now() + UInt64(limit / .nanoseconds(1))
    var line: [UInt8] = []
    while true {
      let left = Duration.nanoseconds(Int64(end) - Int64(BootClock.now()))
      try waitFor(POLLIN, on: output.rawValue, within: left)
      var byte: UInt8 = 0
      guard try withUnsafeMutableBytes(of: &byte, { try output.read(into: $0) }) == 1 else {
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
      }
      if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
      line.append(byte)
    }
  }
}

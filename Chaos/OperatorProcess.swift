import Glibc
import LinuxSystem

/// The process of the operator, which the campaign can pause.
final class OperatorProcess {
  private let process: PIDFD
  private let input: FileDescriptor
  private let output: FileDescriptor
  private var isPaused = false

  init(_ arguments: [String]) throws {
    let (reading, writing) = try FileDescriptor.pipe().ends()
    let (resultReading, resultWriting) = try FileDescriptor.pipe().ends()
    input = FileDescriptor(taking: writing)
    output = FileDescriptor(taking: resultReading)
    let childsInput = FileDescriptor(taking: reading)
    let childsOutput = FileDescriptor(taking: resultWriting)
    var request = SpawnRequest(
      path: "/usr/bin/chaos", arguments: ["chaos"] + arguments,
      environment: ["PATH=/usr/bin:/bin"])
    request.stdio = (childsInput.rawValue, childsOutput.rawValue, nil)
    process = try HeldChild.spawn(request).releaseAndWaitForExec()
    childsInput.close()
    childsOutput.close()
  }

  /// Waits until the operation in progress is complete. Returns the clients that the operator has
  /// operated since the last pause.
  func pause() throws -> Set<Int> {
    try sendByte()
    isPaused = true
    var line: [UInt8] = []
    while true {
      guard try Readiness.wait(for: Int16(POLLIN), on: output.rawValue, timeout: .seconds(60)) != 0
      else { throw Failure(sentence: "the operator's call was not answered within a minute") }
      var byte: UInt8 = 0
      guard try withUnsafeMutableBytes(of: &byte, { try output.read(into: $0) }) == 1 else {
        throw Failure(sentence: "the operator has ended")
      }
      if byte == UInt8(ascii: "\n") { break }
      line.append(byte)
    }
    return Set(String(decoding: line, as: UTF8.self).split(separator: " ").compactMap { Int($0) })
  }

  func resume() throws {
    guard isPaused else { return }
    isPaused = false
    try sendByte()
  }

  func end() throws {
    _ = try process.send(signal: SIGKILL)
    _ = try process.wait()
  }

  private func sendByte() throws {
    _ = try withUnsafeBytes(of: UInt8(ascii: "\n")) { try input.write($0) }
  }
}

import EventLoop
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerSession

/// A monitor of an audio server with its own event loop. The loop runs while the test waits.
final class AudioFixture {
  let loop: EventLoop
  private(set) var monitor: AudioMonitor?
  /// All reports, the oldest first.
  private(set) var reports: [AudioStreams] = []
  private(set) var failures: [AudioFailure] = []
  let proc: ProcFS

  init(_ path: String) throws {
    loop = try EventLoop()
    proc = try ProcFS()
    monitor = try AudioMonitor(path: path, loop: loop, proc: proc) { [unowned self] in
      switch $0 {
      case .streams(let streams, _): reports.append(streams)
      case .unreachable(let failure): failures.append(failure)
      }
    }
    monitor?.start()
  }

  var newest: AudioStreams? { reports.last }

  /// Handles events until the newest report fulfils a condition, and returns the report.
  @discardableResult
  func wait(
    _ expectation: String, location: SourceLocation = #_sourceLocation,
    until isSatisfied: (AudioStreams) -> Bool
  ) throws -> AudioStreams {
    let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
    while true {
      if let newest, isSatisfied(newest) { return newest }
      guard BootClock.now() < end else {
        Issue.record(
          "\(expectation): the newest report is \(String(describing: newest))",
          sourceLocation: location)
        throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
      }
      try loop.turn(within: .seconds(1))
    }
  }

  /// Waits until a process has exactly one stream, which fulfils a condition. Returns the stream.
  func waitForStream(
    of pid: Int32, _ expectation: String, location: SourceLocation = #_sourceLocation,
    _ isSatisfied: (TaskSchedulerSession.AudioStream) -> Bool = { _ in true }
  ) throws -> TaskSchedulerSession.AudioStream {
    let report = try wait(expectation, location: location) { report in
      let own = report.streams.filter { $0.process.pid == pid }
      return own.count == 1 && isSatisfied(own[0])
    }
    let stream = try #require(report.streams.first { $0.process.pid == pid })
    // The reported start time must be the start time in /proc.
    #expect(try proc.identity(pid) == stream.process, sourceLocation: location)
    return stream
  }
}

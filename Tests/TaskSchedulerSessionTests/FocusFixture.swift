import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerSession
import TestSupport
import Testing

/// A monitor of the session's windows, with its own event loop. The loop runs while the test waits.
final class FocusFixture {
  let loop: EventLoop
  private var monitor: FocusMonitor?
  /// All reports, the oldest first.
  private(set) var reports: [FocusMonitor.Occurrence] = []
  let proc = try! ProcFS()

  init(_ environment: SessionEnvironment) throws {
    loop = try EventLoop()
    monitor = try FocusMonitor(loop: loop, environment: environment, proc: try ProcFS()) {
      [unowned self] in reports.append($0)
    }
  }

  /// The newest snapshot; nil if nothing is known.
  var windows: SessionWindows? {
    guard case .windows(let windows)? = reports.last else { return nil }
    return windows
  }

  /// Handles events until a condition holds.
  func wait(
    _ expectation: String, location: SourceLocation = #_sourceLocation,
    until isSatisfied: (FocusFixture) throws -> Bool
  ) throws {
    let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
    while try !isSatisfied(self) {
      guard BootClock.now() < end else {
        Issue.record(
          "\(expectation): the newest report is \(String(describing: reports.last))",
          sourceLocation: location)
        throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
      }
      try loop.turn(within: .seconds(1))
    }
  }

  /// Waits until the windows of these processes, and no others, have these visibilities.
  func wait(
    focused: [Int32] = [], visible: [Int32] = [], hidden: [Int32] = [],
    location: SourceLocation = #_sourceLocation
  ) throws {
    try wait(
      "focused \(focused), visible \(visible), hidden \(hidden)", location: location
    ) { fixture in
      fixture.pids(.focused) == focused.sorted() && fixture.pids(.visible) == visible.sorted()
        && fixture.pids(.hidden) == hidden.sorted() && fixture.windows != nil
    }
    // The reported start time of each process must be the start time in /proc.
    for window in windows?.windows ?? [] {
      guard let process = window.process else { continue }
      #expect(try proc.identity(process.pid) == process, sourceLocation: location)
    }
  }

  private func pids(_ visibility: WindowVisibility) -> [Int32] {
    (windows?.windows ?? []).filter { $0.visibility == visibility }
      .map { $0.process?.pid ?? 0 }.sorted()
  }

  /// Waits until nothing is known about the windows.
  func waitForUnknown(location: SourceLocation = #_sourceLocation) throws {
    try wait("nothing is known", location: location) { $0.windows == nil }
  }
}

/// A blocking client that sends commands to sway or i3 by their common protocol.
final class IPCControl {
  private let socket: FileDescriptor

  init(path: String) throws { socket = try UnixSocket.connect(path: path) }

  /// Runs a command, and returns when it has been carried out.
  func run(_ command: String) throws {
    var message = Array("i3-ipc".utf8)
    for number in [UInt32(command.utf8.count), 0] {
      withUnsafeBytes(of: number) { message.append(contentsOf: $0) }
    }
    message += Array(command.utf8)
    _ = try message.withUnsafeBytes { try socket.write($0) }
    let header = try read(14)
    let count = header[6..<10].reversed().reduce(0) { $0 << 8 | Int($1) }
    let reply = String(decoding: try read(count), as: UTF8.self)
    guard !reply.contains(/"success": ?false/) else {
      throw SystemError(call: "\(command): \(reply)", errno: EPROTO)
    }
  }

  private func read(_ count: Int) throws -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: count)
    var done = 0
    while done < count {
      try waitFor(POLLIN, on: socket.rawValue)
      let got = try bytes.withUnsafeMutableBytes {
        try socket.read(into: UnsafeMutableRawBufferPointer(rebasing: $0[done...]))
      }
      guard let got, got > 0 else { throw SystemError(call: "read IPC", errno: EPIPE) }
      done += got
    }
    return bytes
  }
}

/// The programs that the tests with real compositors need.
enum Programs {
  static func missing(_ names: [String]) -> String? {
    names.first { access("/usr/bin/\($0)", X_OK) != 0 }
      .map { "there is no /usr/bin/\($0); `make test-setup` installs it" }
  }
}

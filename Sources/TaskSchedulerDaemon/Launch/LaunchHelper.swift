import Glibc
import LinuxSystem

/// The first program in an application's unit. It waits until the daemon has opened its pidfd, and
/// then executes the application's program. If the daemon is gone, it exits, so that nothing runs
/// unmanaged.
///
/// Its standard input is a socket to the daemon. It sends a byte. The daemon answers with a byte
/// and two files. The first file contains the order; it is in memory, because every user can read
/// messages on systemd's bus. The second is a pipe for a ``Failure``, which exec closes.
public enum LaunchHelper {
  /// The option that starts the daemon's executable as this program.
  public static let option = "--start-held"

  /// The exit code of a shell for a command that it cannot start.
  private static let exitNotStarted: Int32 = 127

  /// The program to execute, and its directory and environment.
  struct Order {
    var directory: String
    /// The directories in which to find a program that is named without a directory.
    var searchPath: String
    var arguments: [SystemString]
    var environment: [SystemString]
  }

  /// The failed step, in the form that is written to the pipe.
  struct Failure {
    enum Step: Int32 {
      case directory = 1
      case search, execute
    }

    var step: Int32 = 0
    var code: Int32 = 0
  }

  // MARK: In the unit

  /// Executes the application's program, or exits.
  public static func run() -> Never {
    do {
      var files = try awaitRelease()
      guard let file = files.take(0), let report = files.take(1),
        let order = Order(parsing: try file.readToEnd())
      else { throw SystemError(call: "waiting for the daemon", errno: ECONNRESET) }
      // The program must not inherit the socket to the daemon.
      let nothing = try FileDescriptor.open(reading: "/dev/null")
      try Execution.place(nothing.rawValue, at: STDIN_FILENO)
      let failure = execute(order)
      // The pipe stays open until exec or the exit. Its end thus reports both to the daemon.
      let number = report.take()
      withUnsafeBytes(of: failure) { _ = Glibc.write(number, $0.baseAddress, $0.count) }
    } catch {
      let text = "taskschedd: not started: \(error)\n"
      _ = text.withCString { Glibc.write(STDERR_FILENO, $0, strlen($0)) }
    }
    exit(exitNotStarted)
  }

  /// Returns the files that come with the daemon's byte; no files if the daemon is gone.
  private static func awaitRelease() throws -> DescriptorBag {
    var byte: UInt8 = 1
    try withUnsafeBytes(of: &byte) { bytes throws(SystemError) in
      _ = try UnixSocket.send(STDIN_FILENO, bytes)
    }
    var files = DescriptorBag(messageMax: 2)
    while true {
      _ = try Readiness.wait(for: Int16(POLLIN), on: STDIN_FILENO)
      let transfer = try withUnsafeMutableBytes(of: &byte) { bytes throws(ReceiveError) in
        try UnixSocket.receive(STDIN_FILENO, into: bytes, descriptors: &files)
      }
      if transfer != .wouldBlock { return files }
    }
  }

  private static func execute(_ order: Order) -> Failure {
    do throws(SystemError) {
      try Execution.enter(order.directory)
    } catch {
      return Failure(.directory, error.errno)
    }
    guard let program = order.program else { return Failure(.search, ENOENT) }
    let code = Execution.replace(
      program, arguments: order.arguments, environment: order.environment)
    return Failure(.execute, code)
  }

  // MARK: In the daemon

  /// Tells the process at the other end of `socket` to execute its program. Both files stay open in
  /// the daemon. If the process is gone, its pidfd and the pipe report this.
  static func release(_ socket: Int32, order: Int32, report: Int32) throws(SystemError) {
    var byte: UInt8 = 1
    let files = [order, report]
    _ = try withUnsafeBytes(of: &byte) { bytes throws(SystemError) in
      try files.withUnsafeBufferPointer { files throws(SystemError) in
        try UnixSocket.send(socket, bytes, descriptors: files)
      }
    }
  }
}

extension LaunchHelper.Failure {
  fileprivate init(_ step: Step, _ code: Int32) {
    self.step = step.rawValue
    self.code = code
  }
}

extension LaunchHelper.Order {
  /// NUL-terminated strings: the directory, the search path, the number of arguments, the
  /// arguments, and the environment.
  private var strings: [SystemString] {
    [SystemString(directory), SystemString(searchPath), "\(arguments.count)"] + arguments
      + environment
  }

  /// - Throws: EINVAL if a string contains a NUL, which is not possible in an argument of a
  ///   program.
  func file() throws(SystemError) -> FileDescriptor {
    guard strings.allSatisfy({ !$0.bytes.contains(0) }) else {
      throw SystemError(call: "execve", errno: EINVAL)
    }
    return try MemoryFile.make(
      named: "taskschedd-start", holding: strings.flatMap { $0.bytes + [0] })
  }

  /// - Returns: nil if the bytes do not come from ``file()``.
  init?(parsing bytes: [UInt8]) {
    guard bytes.last == 0 else { return nil }
    let strings = bytes.dropLast().split(separator: 0, omittingEmptySubsequences: false)
      .map { SystemString(bytes: Array($0)) }
    guard strings.count >= 3, let count = Int(strings[2].text), count >= 1,
      strings.count - 3 >= count
    else { return nil }
    directory = strings[0].text
    searchPath = strings[1].text
    arguments = Array(strings[3..<3 + count])
    environment = Array(strings[(3 + count)...])
  }

  /// The path of the program to execute; nil if no directory contains it.
  fileprivate var program: String? {
    ApplicationManifest.executable(arguments[0].text, searchPath: searchPath)
  }
}

extension SystemString {
  fileprivate var text: String { String(decoding: bytes, as: UTF8.self) }
}

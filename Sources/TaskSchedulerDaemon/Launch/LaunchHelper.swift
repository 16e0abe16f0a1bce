import Glibc
import LinuxSystem

/// The first program in an application's unit. The helper waits until the daemon has opened a pidfd
/// of the helper's process, and then executes the application's program. If the daemon is gone, the
/// helper exits, so that no application runs unmanaged.
///
/// The helper's standard input is a socket to the daemon. The helper sends a byte, and the daemon
/// answers with a byte and two files. The first file contains the ``Order``. The daemon does not
/// pass the order to systemd: every user can read messages on systemd's bus, and the environment in
/// the order may contain secrets. The second file is a pipe, to which the helper writes a
/// ``Failure``; exec closes the pipe.
public enum LaunchHelper {
  /// The command-line option that makes the daemon's executable run as the launch helper.
  public static let option = "--start-held"

  /// The exit code with which shells report that they cannot start a command.
  private static let exitNotStarted: Int32 = 127

  /// The program to execute, with its arguments, directory and environment.
  struct Order {
    var directory: String
    /// Directories, separated by colons. The helper searches them for the program if the program's
    /// name contains no directory.
    var searchPath: String
    var arguments: [SystemString]
    var environment: [SystemString]
  }

  /// The failed step and its errno, as the helper writes them to the pipe.
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
      // `execute` returns only if it has failed. The process then writes the failure to the pipe.
      // The exit closes the pipe, so that the daemon knows that nothing follows.
      let number = report.take()
      withUnsafeBytes(of: failure) { _ = Glibc.write(number, $0.baseAddress, $0.count) }
    } catch {
      let text = "taskschedd: application not started: \(error)\n"
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

  /// Tells the process at the other end of `socket` to execute its program. Does not close `order`
  /// and `report`. Does not fail if the process is gone: its pidfd and the pipe report the exit.
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
  /// The strings of the file, each without the NUL that follows it: the directory, the search path,
  /// the number of arguments, the arguments, and the environment.
  private var strings: [SystemString] {
    [SystemString(directory), SystemString(searchPath), "\(arguments.count)"] + arguments
      + environment
  }

  /// Returns a new file in memory that contains the order.
  ///
  /// - Throws: EINVAL if a string contains a NUL. An argument of a program cannot contain a NUL.
  func file() throws(SystemError) -> FileDescriptor {
    guard strings.allSatisfy({ !$0.bytes.contains(0) }) else {
      throw SystemError(call: "execve", errno: EINVAL)
    }
    return try MemoryFile.make(
      named: "taskschedd-start", holding: strings.flatMap { $0.bytes + [0] })
  }

  /// Reads the content of a file that ``file()`` created.
  ///
  /// - Returns: nil for any other content.
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

import Glibc
import LinuxSystem
import Synchronization

/// A program that serves the test. It is terminated when the value is destroyed, or when the test's
/// process ends in any way.
public final class GuardedProcess: Sendable {
  /// The pid of the program itself, not of its guardian.
  public let pid: Int32
  private let guardian: TestProcess
  private let hasEnded = Atomic(false)

  /// The script of the guardian. It starts the program, and terminates it after a line of input or
  /// at the end of the input. Only the program keeps the output open, so the output ends when the
  /// program ends.
  private static let script = """
    sh -c 'echo $$; exec "$@"' sh "$@" </dev/null 2>/dev/null &
    exec >/dev/null
    read line
    kill -TERM $! 2>/dev/null
    kill -CONT $! 2>/dev/null
    wait $!
    """

  /// Starts the program.
  ///
  /// - Parameters:
  /// - command: a program of /usr/bin and its arguments. `readLine` returns its output; its
  ///   standard error is discarded.
  /// - environment: the complete environment.
  /// - uid: the user that runs the program; nil for the user of the test.
  public init(
    _ command: [String], environment: [SystemString] = ["PATH=/usr/bin:/bin"], uid: UInt32? = nil
  ) throws {
    guardian = try TestProcess("/bin/sh", ["sh", "-c", Self.script, "sh"] + command) {
      $0.environment = environment
      if let uid { $0.identity = .init(uid: uid, gid: uid, groups: []) }
    }
    guard let pid = try guardian.readLine().flatMap({ Int32($0) }) else {
      throw SystemError(call: "starting \(command[0])", errno: ECHILD)
    }
    self.pid = pid
  }

  deinit { end() }

  /// Terminates the program, and waits for its end.
  public func end() {
    guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
    _ = try? guardian.writeLine("end")
    // A program that does not end in time is killed with the guardian's group.
    _ = try? guardian.waitForExit(within: .seconds(5))
  }

  /// Sends the program a signal. Its pid stays reserved until `end()`.
  public func send(signal: Int32) {
    precondition(!hasEnded.load(ordering: .relaxed), "another process may have the pid by now")
    kill(pid, signal)
  }

  /// Returns the next line of output without its end, or nil at the end of the output.
  public func readLine() throws -> String? { try guardian.readLine() }
}

extension GuardedProcess {
  /// A program that creates a listening socket, and then executes the service, which receives the
  /// socket (sd_listen_fds).
  private static let activator = """
    import os, socket, sys
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[1])
    listener.listen()
    os.dup2(listener.fileno(), 3)
    os.set_inheritable(3, True)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
    print("listening", flush=True)
    os.execv(sys.argv[2], sys.argv[2:])
    """

  /// Starts a service as systemd does for a socket unit. Clients can connect to the socket when
  /// the initializer returns.
  ///
  /// - Parameters:
  ///   - path: the path of the socket; another file there is replaced.
  ///   - command: the path of the program, and its arguments.
  public convenience init(
    listeningAt path: String, _ command: [String],
    environment: [SystemString] = ["PATH=/usr/bin:/bin"]
  ) throws {
    try UnixSocket.unlink(path: path)
    try self.init(["python3", "-c", Self.activator, path] + command, environment: environment)
    guard try readLine() == "listening" else {
      throw SystemError(call: "listening at \(path)", errno: ECHILD)
    }
  }
}

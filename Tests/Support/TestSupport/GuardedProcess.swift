import Glibc
import LinuxSystem
import Synchronization

/// A program that serves the test: asked to end when the value ends, and when the test's process
/// ends, however that does.
public final class GuardedProcess: Sendable {
  /// Of the program itself.
  public let pid: Int32
  private let guardian: TestProcess
  private let hasEnded = Atomic(false)

  /// The guardian waits for the end of its input, or for a line.
  private static let script = """
    sh -c 'echo $$; exec "$@"' sh "$@" </dev/null 2>/dev/null &
    read line
    kill -TERM $! 2>/dev/null
    kill -CONT $! 2>/dev/null
    wait $!
    """

  /// - Parameters:
  ///   - command: a program of /usr/bin and its arguments. What it writes is for `readLine`, but
  ///     for errors and warnings, which are thrown away.
  ///   - environment: all of it.
  ///   - uid: run by that user; nil: by ours.
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

  /// Has it end, and waits for that.
  public func end() {
    guard !hasEnded.exchange(true, ordering: .relaxed) else { return }
    _ = try? guardian.writeLine("end")
    // What does not end by then is killed with the guardian's group.
    _ = try? guardian.waitForExit(within: .seconds(5))
  }

  /// Sends it a signal. Its pid is kept until `end()`.
  public func send(signal: Int32) {
    precondition(!hasEnded.load(ordering: .relaxed), "the process may be another's by now")
    kill(pid, signal)
  }

  /// The next line that it writes, without its end; nil at the end of its output.
  public func readLine() throws -> String? { try guardian.readLine() }
}

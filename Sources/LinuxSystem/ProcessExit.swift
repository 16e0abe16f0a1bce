import CLinux
import Glibc

/// The end of a process.
public enum ProcessExit: Hashable, Sendable {
  /// The process called exit with a code from 0 to 255.
  case exited(code: Int32)
  /// A signal ended the process.
  case signaled(signal: Int32)

  /// Parses the status of wait(2), /proc/PID/stat and PIDFD_GET_INFO.
  public init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self = signal == 0 ? .exited(code: waitStatus >> 8 & 0xff) : .signaled(signal: signal)
  }

  /// The exit code as a shell reports it: the code, or 128 + the signal.
  public var shellCode: Int32 {
    switch self {
    case .exited(let code): code
    case .signaled(let signal): 128 + signal
    }
  }
}

/// A change of a child's state, for job control as in a shell.
public enum ChildChange: Hashable, Sendable {
  case ended(ProcessExit)
  /// This signal (SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU) stopped the child.
  case stopped(signal: Int32)
  /// SIGCONT continued the child.
  case continued

  init?(_ result: clinux_wait_result) {
    guard result.pid != 0 else { return nil }
    switch result.code {
    case Int32(CLD_EXITED): self = .ended(.exited(code: result.status))
    case Int32(CLD_KILLED), Int32(CLD_DUMPED): self = .ended(.signaled(signal: result.status))
    case Int32(CLD_STOPPED), Int32(CLD_TRAPPED): self = .stopped(signal: result.status)
    case Int32(CLD_CONTINUED): self = .continued
    default: return nil
    }
  }
}

/// The options of a wait for a child.
public struct WaitOptions: OptionSet, Sendable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Returns nil at once if nothing has changed (WNOHANG).
  public static let nonblocking = WaitOptions(rawValue: WNOHANG)
  /// Reports stops too (WUNTRACED).
  public static let stopped = WaitOptions(rawValue: WUNTRACED)
  /// Reports continuations too (WCONTINUED).
  public static let continued = WaitOptions(rawValue: WCONTINUED)
  /// Does not reap the child (WNOWAIT).
  public static let leave = WaitOptions(rawValue: Int32(WNOWAIT))
}

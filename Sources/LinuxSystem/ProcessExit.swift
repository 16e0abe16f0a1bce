import CLinux
import Glibc

/// How a process ended.
public enum ProcessExit: Hashable, Sendable {
  /// It called exit: 0 to 255.
  case exited(code: Int32)
  /// A signal ended it.
  case signaled(signal: Int32)

  /// From the form that wait(2), /proc/PID/stat and PIDFD_GET_INFO share.
  public init(waitStatus: Int32) {
    let signal = waitStatus & 0x7f
    self = signal == 0 ? .exited(code: waitStatus >> 8 & 0xff) : .signaled(signal: signal)
  }

  /// What a shell makes of it: the code, or 128 + the signal.
  public var shellCode: Int32 {
    switch self {
    case .exited(let code): code
    case .signaled(let signal): 128 + signal
    }
  }
}

/// What became of a child, as a shell needs to know it.
public enum ChildChange: Hashable, Sendable {
  case ended(ProcessExit)
  /// Stopped by this signal (SIGSTOP, SIGTSTP, SIGTTIN, SIGTTOU).
  case stopped(signal: Int32)
  /// Went on after SIGCONT.
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

/// What waiting for a child takes notice of.
public struct WaitOptions: OptionSet, Sendable {
  public let rawValue: Int32

  public init(rawValue: Int32) { self.rawValue = rawValue }

  /// Returns nil at once where nothing has changed (WNOHANG).
  public static let nonblocking = WaitOptions(rawValue: WNOHANG)
  /// Also stops (WUNTRACED).
  public static let stopped = WaitOptions(rawValue: WUNTRACED)
  /// Also continuations (WCONTINUED).
  public static let continued = WaitOptions(rawValue: WCONTINUED)
  /// Leaves the child to be waited for again (WNOWAIT).
  public static let leave = WaitOptions(rawValue: Int32(WNOWAIT))
}

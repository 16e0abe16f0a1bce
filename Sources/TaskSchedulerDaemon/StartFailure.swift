import LinuxSystem

/// Why the daemon did not start.
public enum StartFailure: Error, CustomStringConvertible {
  /// The mistakes were logged, one by one.
  case configuration
  case tooManySockets(Int)
  case wrongSocket
  /// Another user could write what the daemon would go on from.
  case untrustedEventLog(path: String, reason: String)
  /// Something else is where our socket is to be; nil facts where it went meanwhile.
  case occupied(path: String, FileFacts?)

  public var description: String {
    switch self {
    case .configuration: "the configuration has mistakes"
    case .tooManySockets(let count): "systemd handed over \(count) sockets; one is expected"
    case .wrongSocket:
      "the socket that systemd handed over is no listening Unix stream socket (ListenStream=)"
    case .untrustedEventLog(let path, let reason):
      "the event log's directory \(path) (--event-log) \(reason)"
    case .occupied(let path, let facts) where facts?.isSocket ?? true:
      "\(path) is a socket at which somebody answers: another taskschedd or another program; "
        + "stop that, or name another path with --socket"
    case .occupied(let path, let facts):
      "\(path) is \(facts?.kindName ?? "there"): --socket names where the socket is to be made, "
        + "and only one that a daemon has left is replaced; name another path"
    }
  }
}

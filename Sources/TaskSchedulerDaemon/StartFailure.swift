/// Why the daemon did not start.
public enum StartFailure: Error, CustomStringConvertible {
  /// The mistakes were logged, one by one.
  case configuration
  case tooManySockets(Int)
  case wrongSocket

  public var description: String {
    switch self {
    case .configuration: "the configuration has mistakes"
    case .tooManySockets(let count): "systemd handed over \(count) sockets; one is expected"
    case .wrongSocket:
      "the socket that systemd handed over is no listening Unix stream socket (ListenStream=)"
    }
  }
}

import Glibc
import LinuxSystem

/// The reason why the daemon did not start.
public enum StartFailure: Error, CustomStringConvertible {
  /// The configuration has mistakes. The log names each of them.
  case configuration
  case tooManySockets(Int)
  case wrongSocket
  /// A file already exists at the path of the daemon's socket. The status is nil if the file has
  /// disappeared since.
  case occupied(path: String, FileStatus?)

  public var description: String {
    switch self {
    case .configuration: "the configuration has mistakes"
    case .tooManySockets(let count): "systemd handed over \(count) sockets; one is expected"
    case .wrongSocket:
      "the socket that systemd handed over is not a listening Unix stream socket (ListenStream=)"
    case .occupied(let path, let facts) where facts?.isSocket ?? true:
      "\(path) is the socket of a running program, such as another taskschedd; stop that "
        + "program, or name another path with --socket"
    case .occupied(let path, let facts):
      "\(path) is \(facts?.kindName ?? "there"), so taskschedd cannot create its socket at this "
        + "path; name another path with --socket"
    }
  }
}

extension Daemon {
  /// Closes the connections that wait at systemd's socket. If the daemon cannot start, and the next
  /// attempt would fail too, call this before the process exits. Otherwise, systemd would start the
  /// daemon again at once, because connections still wait.
  public static func refuseWaitingConnections() {
    guard let inherited = try? DescriptorStore.Inherited() else { return }
    for listener in inherited.listeners {
      // systemd passes the socket in blocking mode. Without poll(2), accept(2) would block.
      var waiting = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
      while poll(&waiting, 1, 0) == 1, let connection = try? UnixSocket.accept(listener) {
        connection.close()
      }
    }
  }
}

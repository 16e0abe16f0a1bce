import TaskSchedulerClient
import TaskSchedulerWire

/// The error about an application that the daemon does not know. The error names the daemon that
/// taskctl called. It also says whether the other daemon (the system's, or the user's own) knows
/// the application.
enum UnknownApplication {
  /// The time limit for the answer of the other daemon. It is short, because the answer is only a
  /// hint.
  private static let timeout: Duration = .seconds(1)

  /// Returns the failure for an unknown application. Returns nil for any other error, or if taskctl
  /// called no daemon.
  static func failure(_ error: any Error, asked: SocketPath?) -> CommandFailure? {
    guard case ControlInterface.Failure.unknownApplication(let id, let nearest) = error,
      let asked
    else { return nil }
    let sentence = sentence(id, nearest: nearest, asked: asked) { knows(id, at: $0) }
    return .failed(name: "UnknownApplication", sentence: sentence)
  }

  /// Returns the sentence of the error.
  ///
  /// - Parameter isKnown: Returns whether the daemon of a socket knows the id; nil if no daemon
  ///   answers.
  static func sentence(
    _ id: String, nearest: String?, asked: SocketPath, isKnown: (SocketPath) -> Bool?
  ) -> String {
    let place = "there is no application '\(PrintableText.of(id))' in \(words(asked))"
    let hint =
      nearest.map { "; did you mean '\(PrintableText.of($0))'?" }
      ?? "; see 'taskctl list --all'; 'taskctl reload' reads new manifests"
    let other: (path: SocketPath, option: String)? =
      asked == .system
      ? (.user, "--user") : asked == .user ? (.system, "--system") : nil
    guard let other, let isThere = isKnown(other.path) else { return place + hint }
    return isThere
      ? "\(place); \(words(other.path)) has it, use \(other.option)"
      : "\(place), nor in \(words(other.path))\(hint)"
  }

  /// Returns a description of the daemon that listens on a socket.
  static func words(_ path: SocketPath) -> String {
    let text = PrintableText.of(path.path)
    if path == .system { return "the system's daemon (\(text))" }
    if path == .user { return "your own daemon (\(text))" }
    return "the daemon at \(text)"
  }

  private static func knows(_ id: String, at path: SocketPath) -> Bool? {
    do {
      _ = try Connection.connect(to: path).call(
        ControlInterface.GetApplication.self, .init(application: id), timeout: timeout)
      return true
    } catch ControlInterface.Failure.unknownApplication {
      return false
    } catch ControlInterface.Failure.ambiguousApplication {
      return true
    } catch {
      return nil
    }
  }
}

import TaskSchedulerClient
import TaskSchedulerWire

/// The error about an application that the daemon does not know: it names the daemon that was
/// asked, and says whether the other one, the system's or the user's own, knows the application.
enum UnknownApplication {
  /// How long the other daemon may take. It answers within milliseconds, and this is only a hint.
  private static let timeout: Duration = .seconds(1)

  /// nil for any other error, and where it is not known which daemon was asked.
  static func failure(_ error: any Error, asked: SocketPath?) -> CommandFailure? {
    guard case ControlInterface.Failure.unknownApplication(let id, let nearest) = error,
      let asked
    else { return nil }
    let sentence = sentence(id, nearest: nearest, asked: asked) { knows(id, at: $0) }
    return .failed(name: "UnknownApplication", sentence: sentence)
  }

  /// - Parameter isKnown: whether the daemon of that socket knows it; nil where none answers.
  static func sentence(
    _ id: String, nearest: String?, asked: SocketPath, isKnown: (SocketPath) -> Bool?
  ) -> String {
    let place = "there is no application '\(PrintableText.of(id))' at \(words(asked))"
    let hint =
      nearest.map { "; did you mean '\(PrintableText.of($0))'?" }
      ?? "; see 'taskctl list --all'; a new manifest is read by 'taskctl reload'"
    let other: (path: SocketPath, option: String)? =
      switch asked {
      case .system: (.user, "--user")
      case .user: (.system, "--system")
      case _: nil
      }
    guard let other, let isThere = isKnown(other.path) else { return place + hint }
    return isThere
      ? "\(place); \(words(other.path)) has it: use \(other.option)"
      : "\(place), nor at \(words(other.path))\(hint)"
  }

  /// The daemon that listens there.
  static func words(_ path: SocketPath) -> String {
    let text = PrintableText.of(path.path)
    return switch path {
    case .system: "the system's daemon (\(text))"
    case .user: "your own daemon (\(text))"
    case _: "the daemon of \(text)"
    }
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

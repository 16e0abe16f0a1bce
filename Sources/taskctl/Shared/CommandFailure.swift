import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// The exit codes of taskctl. `run` and `task` return the exit code of the program instead.
enum ExitStatusCode {
  static let done: Int32 = 0
  static let refused: Int32 = 1
  static let usage: Int32 = 2
  static let noDaemon: Int32 = 3
}

/// A failure of a command, reported on standard error.
enum CommandFailure: Error, Hashable {
  /// The daemon or the operating system refused the request. Programs recognize the error by
  /// `name`.
  case failed(name: String, sentence: String)
  /// No daemon answers, or the daemon closed the connection.
  case noDaemon(String)

  var exitCode: Int32 {
    switch self {
    case .failed: ExitStatusCode.refused
    case .noDaemon: ExitStatusCode.noDaemon
    }
  }

  /// The line that the command writes to standard error.
  var text: String {
    switch self {
    case .failed(let name, let sentence): "taskctl: \(name): \(sentence)"
    case .noDaemon(let sentence): "taskctl: \(sentence)"
    }
  }

  /// Creates the failure for an error of a connection or of the operating system; nil for an error
  /// about the command line.
  init?(_ error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as ControlInterface.Failure: self = .refused(error, error.sentence)
    case let error as StandardFailure: self = .refused(error, error.sentence)
    case let error as ConnectionError: self = .init(connection: error)
    case let error as any MethodFailure:
      self = .refused(
        error, "the daemon returned an error that this version of taskctl does not know")
    case let error as SystemError:
      self = .failed(name: "SystemCallFailed", sentence: PrintableText.of(error.description))
    default: return nil
    }
  }

  private static func refused(_ failure: some MethodFailure, _ sentence: String) -> Self {
    let name = failure.name.split(separator: ".").last ?? "?"
    return .failed(name: PrintableText.of(String(name)), sentence: sentence)
  }

  /// Returns the command that starts the daemon of a socket.
  private static func startCommand(_ path: String) -> String {
    switch path {
    case SocketPath.system.path:
      "'systemctl enable --now taskschedd.service', or your own daemon with 'systemctl --user "
        + "enable --now taskschedd.service'"
    case SocketPath.user.path:
      "'systemctl --user enable --now taskschedd.service' or 'taskschedd --user'"
    default: "'taskschedd --socket \(PrintableText.of(path))'"
    }
  }

  private init(connection error: ConnectionError) {
    switch error {
    case .noDaemon(let path):
      self = .noDaemon(
        "no taskschedd listens on \(PrintableText.of(path)); start it with"
          + " \(Self.startCommand(path)), or name another socket with --socket")
    case .closedByDaemon, .closed, .system, .timedOut, .violation:
      self = .noDaemon(PrintableText.of(error.description))
    case .notPermitted(let path):
      self = .failed(
        name: "NotPermitted",
        sentence: "permission to connect to \(PrintableText.of(path)) denied; ask for access, or"
          + " use your own daemon with --user")
    case .unreadableAnswer, .occupied:
      self = .failed(name: "UnreadableAnswer", sentence: PrintableText.of(error.description))
    }
  }
}

extension ControlInterface.Failure {
  /// A sentence that says what was wrong, and what would be right.
  var sentence: String {
    switch self {
    case .unknownApplication(let id, let nearest):
      "there is no application \(quoted(id))"
        + (nearest.map { "; did you mean \(quoted($0))?" }
          ?? "; see 'taskctl list --all'; 'taskctl reload' reads new manifests")
    case .ambiguousApplication(let id, let owners):
      "several users run \(quoted(id)); select one with --owner:"
        + " \(owners.map { PrintableText.of(UserName.of($0)) }.joined(separator: ", "))"
    case .invalidApplicationID(let id):
      "\(quoted(id)) is not an application id; use two or more labels of letters, digits, - and _,"
        + " joined by dots, like 'org.example.mail'"
    case .invalidTransition(let id, let state, let cause):
      "\(quoted(id)) is \(state.rawValue); \(quoted(cause)) is not possible from that state"
    case .alreadyRunning(let id, let pid, let state):
      "\(quoted(id)) already runs as process \(pid), in state \(state.rawValue)"
    case .terminating(let id): "\(quoted(id)) is being terminated"
    case .notLaunchable(let id):
      "\(quoted(id)) is not running, and no manifest says how to launch it for its user"
    case .launchFailed(let id, let reason):
      "the daemon could not launch \(quoted(id)): \(PrintableText.of(reason))"
    case .invalidProcess(let pid, let reason):
      "the daemon cannot manage process \(pid): \(PrintableText.of(reason))"
    case .quotaExceeded(let quota, let limit):
      "the quota \(PrintableText.of(quota)) (\(limit)) is reached; see 'taskctl config'"
    case .unknownNotification(let id?, let notification):
      "\(quoted(id)) has no notification \(notification); see 'taskctl notifications list'"
    case .unknownNotification(nil, let notification):
      "there is no notification \(notification); see 'taskctl notifications list'"
    case .invalidNotification(let parameter, let reason):
      "invalid notification, \(PrintableText.of(parameter)): \(PrintableText.of(reason))"
    case .invalidSystemChange(let parameter, let reason):
      "invalid change, \(PrintableText.of(parameter)): \(PrintableText.of(reason))"
    case .notStored(let reason):
      "the daemon could not store the change: \(PrintableText.of(reason))"
    case .terminatedByOperator(let id):
      "an operator or the user terminated \(quoted(id)); launch it with 'taskctl launch'"
    case .stateNotSaved:
      "taskschedd cannot write its event log and accepts no change until it can; check the free"
        + " space of its runtime directory with 'df /run', and see 'taskctl log'"
    case .multitaskingNotSupported(let id):
      "\(quoted(id)) cannot run in the background: its manifest opts out of multitasking, or this"
        + " machine does not support it"
    case .cannotBeTold(let id, let state):
      "\(quoted(id)) cannot receive a memory warning: it is \(state.rawValue)"
        + (state == .suspended || state == .notRunning ? "" : " and has no event stream")
    case .nothingPlayed: Self.sentence(nothingPlayedBy: "this user")
    case .notPermitted(let id):
      id.map { "permission to operate \(quoted($0)) denied: it runs as another user" }
        ?? "permission denied: only an operator may do this"
    case .invalidConfiguration(let problems):
      "the configuration is invalid; the previous one stays effective:"
        + problems.map { "\n  \(PrintableText.of($0))" }.joined()
    }
  }

  /// Returns the sentence of the error `nothingPlayed` for a user whose applications have not
  /// played.
  static func sentence(nothingPlayedBy user: String) -> String {
    "no running application of \(user) that receives media commands has played audio; play"
      + " something in one, or name another user with --owner"
  }

  private func quoted(_ text: String) -> String { "'\(PrintableText.of(text))'" }
}

extension StandardFailure {
  /// A sentence that says what was wrong, and what would be right.
  fileprivate var sentence: String {
    switch self {
    case .interfaceNotFound(let name), .methodNotFound(let name), .methodNotImplemented(let name):
      "the daemon does not offer '\(PrintableText.of(name))'; it may be older than this taskctl"
    case .invalidParameter(let parameter):
      "the daemon does not accept the parameter '\(PrintableText.of(parameter))'"
    case .permissionDenied: "permission denied"
    case .expectedMore: "the method must be called with the flag 'more'"
    }
  }
}

/// Returns `it is not a state; use one of active, …; did you mean 'active'?`.
func noSuchName(_ kind: String, _ text: String, among names: [String]) -> String {
  let nearest = nearestName(to: text, among: names).map { "; did you mean '\($0)'?" } ?? ""
  return "it is not a \(kind); use one of \(names.joined(separator: ", "))\(nearest)"
}

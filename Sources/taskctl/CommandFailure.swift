import LinuxSystem
import TaskSchedulerClient
import TaskSchedulerWire

/// The exit codes of taskctl. `run` and `task` return those of the program instead.
enum ExitStatusCode {
  static let done: Int32 = 0
  static let refused: Int32 = 1
  static let usage: Int32 = 2
  static let noDaemon: Int32 = 3
}

/// Why a command did not do what it was asked to.
enum CommandFailure: Error, Hashable {
  /// The daemon refused, or this machine; `name` is the error's name, for programs.
  case failed(name: String, sentence: String)
  /// There is no daemon, or no longer.
  case noDaemon(String)

  var exitCode: Int32 {
    switch self {
    case .failed: ExitStatusCode.refused
    case .noDaemon: ExitStatusCode.noDaemon
    }
  }

  /// What standard error is told.
  var text: String {
    switch self {
    case .failed(let name, let sentence): "taskctl: \(name): \(sentence)"
    case .noDaemon(let sentence): "taskctl: \(sentence)"
    }
  }

  /// What a connection, or this machine, threw; nil for what is about the command line.
  init?(_ error: any Error) {
    switch error {
    case let error as CommandFailure: self = error
    case let error as ControlInterface.Failure: self = .refused(error, error.sentence)
    case let error as StandardFailure: self = .refused(error, error.sentence)
    case let error as ConnectionError: self = .init(connection: error)
    case let error as any MethodFailure:
      self = .refused(error, "the daemon answered with an error that this taskctl does not know")
    case let error as SystemError:
      self = .failed(name: "SystemCallFailed", sentence: PrintableText.of(error.description))
    default: return nil
    }
  }

  private static func refused(_ failure: some MethodFailure, _ sentence: String) -> Self {
    let name = failure.name.split(separator: ".").last ?? "?"
    return .failed(name: PrintableText.of(String(name)), sentence: sentence)
  }

  /// What starts the daemon of that socket.
  private static func startCommand(_ path: String) -> String {
    switch path {
    case SocketPath.system.path:
      "'systemctl start taskschedd.socket', or one of your own with 'taskschedd --user'"
    case SocketPath.user.path: "'systemctl --user start taskschedd.socket' or 'taskschedd --user'"
    default: "'taskschedd --socket \(PrintableText.of(path))'"
    }
  }

  private init(connection error: ConnectionError) {
    switch error {
    case .noDaemon(let path):
      self = .noDaemon(
        "no taskschedd answers at \(PrintableText.of(path)); start it with"
          + " \(Self.startCommand(path)), or name another's socket with --socket")
    case .closedByDaemon, .closed, .system, .timedOut, .violation:
      self = .noDaemon(PrintableText.of(error.description))
    case .notPermitted(let path):
      self = .failed(
        name: "NotPermitted",
        sentence: "you may not connect to \(PrintableText.of(path)): ask for access to it, or use"
          + " your own daemon with --user")
    case .unreadableAnswer, .occupied:
      self = .failed(name: "UnreadableAnswer", sentence: PrintableText.of(error.description))
    }
  }
}

extension ControlInterface.Failure {
  /// What was wrong, and what would be right.
  var sentence: String {
    switch self {
    case .unknownApplication(let id, let nearest):
      "there is no application \(quoted(id))"
        + (nearest.map { "; did you mean \(quoted($0))?" }
          ?? "; see 'taskctl list'; a new manifest is read by 'taskctl reload'")
    case .ambiguousApplication(let id, let owners):
      "several users run \(quoted(id)); name one with --owner:"
        + " \(owners.map { Owner.name(of: $0) }.map(PrintableText.of).joined(separator: ", "))"
    case .invalidApplicationID(let id):
      "\(quoted(id)) is no application id: two or more labels of letters, digits, - and _, joined"
        + " by dots, like 'org.example.mail'"
    case .invalidTransition(let id, let state, let cause):
      "\(quoted(id)) is \(state.rawValue), from which \(quoted(cause)) is not possible"
    case .alreadyRunning(let id, let pid, let state):
      "\(quoted(id)) is running already: it is \(state.rawValue), with pid \(pid)"
    case .terminating(let id): "\(quoted(id)) is being ended"
    case .notLaunchable(let id):
      "\(quoted(id)) is not running, and no manifest says how to launch it"
    case .launchFailed(let id, let reason):
      "\(quoted(id)) could not be started: \(PrintableText.of(reason))"
    case .invalidProcess(let pid, let reason):
      "process \(pid) cannot be managed: \(PrintableText.of(reason))"
    case .quotaExceeded(let quota, let limit):
      "the quota \(PrintableText.of(quota)) = \(limit) is used up; see 'taskctl config'"
    case .unknownNotification(let id?, let notification):
      "\(quoted(id)) has no notification \(notification); see 'taskctl notifications list'"
    case .unknownNotification(nil, let notification):
      "there is no notification \(notification); see 'taskctl notifications list'"
    case .invalidNotification(let parameter, let reason):
      "the notification is refused, \(PrintableText.of(parameter)): \(PrintableText.of(reason))"
    case .invalidSystemChange(let parameter, let reason):
      "the \(PrintableText.of(parameter)) of a change is \(PrintableText.of(reason))"
    case .notStored(let reason):
      "it could not be stored, and is not promised: \(PrintableText.of(reason))"
    case .terminatedByOperator(let id):
      "an operator or the user has ended \(quoted(id)): launch it with 'taskctl launch'"
    case .stateNotSaved:
      "taskschedd promises nothing new while it cannot write it down: its runtime directory is"
        + " full; see 'df /run' and 'taskctl log'"
    case .multitaskingNotSupported(let id):
      "\(quoted(id)) cannot run in the background: its manifest opts out, or this machine does"
        + " not support multitasking"
    case .cannotBeTold(let id, let state):
      "\(quoted(id)) cannot be told: it is \(state.rawValue)"
        + (state == .suspended || state == .notRunning ? "" : ", and has no event stream")
    case .notPermitted(let id):
      id.map { "you may not operate \(quoted($0)): it is another user's" }
        ?? "only an operator may do this"
    case .invalidConfiguration(let problems):
      "the configuration has mistakes, and the one before stays in force:"
        + problems.map { "\n  \(PrintableText.of($0))" }.joined()
    }
  }

  private func quoted(_ text: String) -> String { "'\(PrintableText.of(text))'" }
}

extension StandardFailure {
  /// What was wrong, and what would be right.
  fileprivate var sentence: String {
    switch self {
    case .interfaceNotFound(let name), .methodNotFound(let name), .methodNotImplemented(let name):
      "the daemon does not offer '\(PrintableText.of(name))': is it older than this taskctl?"
    case .invalidParameter(let parameter):
      "the daemon does not accept the parameter '\(PrintableText.of(parameter))'"
    case .permissionDenied: "you may not do this"
    case .expectedMore: "the daemon expects a call for several replies"
    }
  }
}

/// `it is no state: one of active, …; did you mean 'active'?`.
func noSuchName(_ kind: String, _ text: String, among names: [String]) -> String {
  let nearest = nearestName(to: text, among: names).map { "; did you mean '\($0)'?" } ?? ""
  return "it is no \(kind): one of \(names.joined(separator: ", "))\(nearest)"
}

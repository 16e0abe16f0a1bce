import Glibc
import LinuxSystem
import TaskSchedulerWire

/// Why there is no connection to taskschedd, or no longer one. Each `description` is a sentence
/// for people.
public enum ConnectionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// Nobody listens at that path.
  case noDaemon(path: String)
  /// The socket's permissions keep this user out.
  case notPermitted(path: String)
  /// A system call failed for another reason.
  case system(SystemError)
  /// The daemon closed the connection; whether a call that waited was carried out is not known.
  case closedByDaemon
  /// `Connection.close()` was called.
  case closed
  /// The time for the answer was up; the connection is of no more use.
  case timedOut(method: String, timeout: Duration)
  /// What came is not Varlink.
  case violation(ProtocolViolation)
  /// The answer is Varlink, but not what the interface declares.
  case unreadableAnswer(method: String, ParameterError)
  /// A `callMore` whose replies have not all been taken occupies the connection.
  case occupied(method: String)

  public var description: String {
    switch self {
    case .noDaemon(let path):
      "no taskschedd answers at \(path): is it running, and is TASKSCHEDD_SOCKET right?"
    case .notPermitted(let path):
      "this user may not connect to taskschedd at \(path)"
    case .system(let error):
      "the connection to taskschedd failed: \(error)"
    case .closedByDaemon:
      "taskschedd closed the connection"
    case .closed:
      "the connection to taskschedd has been closed"
    case .timedOut(let method, let timeout):
      "taskschedd did not answer \(method) within \(timeout)"
    case .violation(let violation):
      "taskschedd does not speak Varlink: \(violation)"
    case .unreadableAnswer(let method, let error):
      "taskschedd's answer to \(method) is not what its interface declares: \(error)"
    case .occupied(let method):
      "the connection is occupied by \(method), which takes several replies: use another one"
    }
  }

  /// The case that a failed connect(2) is.
  init(connectingTo path: String, _ error: SystemError) {
    switch error.errno {
    case ENOENT, ECONNREFUSED, ENOTDIR: self = .noDaemon(path: path)
    case EACCES, EPERM: self = .notPermitted(path: path)
    default: self = .system(error)
    }
  }
}

/// An error that the daemon answered with and that this version of the library does not know.
public struct UnknownFailure: MethodFailure, Hashable, Sendable, CustomStringConvertible {
  public let name: String
  public let parameters: JSONValue

  public init(name: String, parameters: JSONValue) {
    self.name = name
    self.parameters = parameters
  }

  public var description: String { "\(name) \(parameters)" }
}

extension ConnectionError {
  /// The error that an answer names, typed: of one of our interfaces, else of
  /// `org.varlink.service`, else unknown.
  static func failure(method: String, name: String, parameters: JSONValue) -> any Error {
    do throws(ParameterError) {
      if let failure = try ApplicationInterface.Failure(name: name, parameters: parameters) {
        return failure
      }
      if let failure = try ControlInterface.Failure(name: name, parameters: parameters) {
        return failure
      }
      if let failure = try StandardFailure(name: name, parameters: parameters) { return failure }
      return UnknownFailure(name: name, parameters: parameters)
    } catch {
      return ConnectionError.unreadableAnswer(method: method, error)
    }
  }
}

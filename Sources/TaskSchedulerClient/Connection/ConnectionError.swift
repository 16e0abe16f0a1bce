import Glibc
import LinuxSystem
import TaskSchedulerWire

/// An error of the connection to taskschedd. Each `description` is a sentence for users.
package enum ConnectionError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No daemon listens at this path.
  case noDaemon(path: String)
  /// The permissions of the socket exclude this user.
  case notPermitted(path: String)
  /// A system call failed for another reason.
  case system(SystemError)
  /// The daemon closed the connection. It may have carried out the call.
  case closedByDaemon
  /// The program called `Connection.close()`.
  case closed
  /// The answer did not arrive in time. The connection is no longer usable.
  case timedOut(method: String, timeout: Duration)
  /// The daemon sent a message that is not Varlink.
  case violation(ProtocolViolation)
  /// The answer does not match the interface.
  case unreadableAnswer(method: String, ParameterError)
  /// A `callMore` with outstanding replies occupies the connection.
  case occupied(method: String)

  package var description: String {
    switch self {
    case .noDaemon(let path):
      "no taskschedd listens at \(path); start it, or set TASKSCHEDD_SOCKET"
    case .notPermitted(let path):
      "this user may not connect to taskschedd at \(path)"
    case .system(let error):
      "the connection to taskschedd failed: \(error)"
    case .closedByDaemon:
      "taskschedd closed the connection"
    case .closed:
      "the connection to taskschedd is closed"
    case .timedOut(let method, let timeout):
      "taskschedd did not answer \(method) within \(timeout)"
    case .violation(let violation):
      "taskschedd does not speak Varlink: \(violation)"
    case .unreadableAnswer(let method, let error):
      "taskschedd's answer to \(method) does not match the interface: \(error)"
    case .occupied(let method):
      "the connection still receives replies to \(method); use another connection"
    }
  }

  /// Creates the error for a failed connect(2).
  init(connectingTo path: String, _ error: SystemError) {
    switch error.errno {
    case ENOENT, ECONNREFUSED, ENOTDIR: self = .noDaemon(path: path)
    case EACCES, EPERM: self = .notPermitted(path: path)
    default: self = .system(error)
    }
  }
}

/// An error of the daemon that this version of the library does not know.
package struct UnknownFailure: MethodFailure, Hashable, Sendable, CustomStringConvertible {
  package let name: String
  package let parameters: JSONValue

  package init(name: String, parameters: JSONValue) {
    self.name = name
    self.parameters = parameters
  }

  package var description: String { "\(name) \(parameters)" }
}

extension ConnectionError {
  /// Returns the error that an answer names: an error of one of the daemon's interfaces or of
  /// `org.varlink.service`, otherwise an `UnknownFailure`.
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

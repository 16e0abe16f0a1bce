import TaskSchedulerWire

/// An error of a request to the daemon.
///
/// ``description`` is a sentence for users.
public enum ApplicationError: Error, Hashable, Sendable, CustomStringConvertible {
  /// No daemon listens at this path.
  case noDaemon(path: String)
  /// This user may not connect to the socket at this path.
  case notPermitted(path: String)
  /// The daemon closed the connection. It may have carried out the request.
  case disconnected
  /// The connection failed for another reason, which the text describes.
  case connectionFailed(String)
  /// The daemon refused the request. Nothing has changed.
  case refused(ApplicationRefusal)
  /// The application called ``ScheduledApplication/close()``.
  case closed

  /// The error in one sentence.
  public var description: String {
    switch self {
    case .noDaemon(let path): ConnectionError.noDaemon(path: path).description
    case .notPermitted(let path): ConnectionError.notPermitted(path: path).description
    case .disconnected: ConnectionError.closedByDaemon.description
    case .connectionFailed(let text): text
    case .refused(let refusal): refusal.description
    case .closed: "the application is closed"
    }
  }

  /// Creates the error that corresponds to an error that `Connection` throws.
  init(_ error: any Error) {
    switch error {
    case let error as ApplicationError: self = error
    case let error as ConnectionError: self.init(connection: error)
    case let error as ApplicationInterface.Failure: self = .refused(ApplicationRefusal(error))
    case StandardFailure.invalidParameter(let parameter):
      self = .refused(.invalidParameter(parameter))
    case let error as any MethodFailure: self = .refused(.other("\(error)"))
    default: fatalError("a connection threw \(error)")
    }
  }

  /// Creates the error that corresponds to a `ConnectionError`.
  init(connection error: ConnectionError) {
    switch error {
    case .noDaemon(let path): self = .noDaemon(path: path)
    case .notPermitted(let path): self = .notPermitted(path: path)
    case .closedByDaemon: self = .disconnected
    case .system, .closed, .timedOut, .violation, .unreadableAnswer, .occupied:
      self = .connectionFailed(error.description)
    }
  }

  /// Whether the connection failed, so that the library must open another one.
  var isOfConnection: Bool {
    switch self {
    case .noDaemon, .notPermitted, .disconnected, .connectionFailed: true
    case .refused, .closed: false
    }
  }

  /// Whether the same request can succeed when the daemon answers again.
  var isTransient: Bool { isOfConnection || self == .refused(.notRegistered) }
}

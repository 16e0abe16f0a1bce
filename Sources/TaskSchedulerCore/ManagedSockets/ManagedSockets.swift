// Managed sockets (contract §7). An application hands over a socket so that arriving data resumes
// the application. The daemon watches the socket while the application is suspended.

/// The conditions that the daemon found on a watched socket.
public struct SocketConditions: OptionSet, Equatable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Data has arrived.
  public static let data = SocketConditions(rawValue: 1)
  /// Urgent (out-of-band) data has arrived.
  public static let urgentData = SocketConditions(rawValue: 2)
  /// The peer has closed the connection, or its sending half.
  public static let hangUp = SocketConditions(rawValue: 4)
  public static let error = SocketConditions(rawValue: 8)
  /// The daemon no longer has its copy of the descriptor, because the previous daemon died and no
  /// service manager kept the copy. The application must hand over the socket again.
  public static let unwatched = SocketConditions(rawValue: 16)
}

/// A managed socket that is ready.
public struct SocketReadiness: Equatable, Sendable {
  public var socket: SocketID
  public var conditions: SocketConditions

  public init(_ socket: SocketID, _ conditions: SocketConditions) {
    self.socket = socket
    self.conditions = conditions
  }
}

/// An event about managed sockets.
public enum SocketEvent: Equatable, Sendable {
  /// The application hands over a socket that the daemon can watch.
  case manage(RequestID, InstanceID, SocketID)
  /// The application releases a socket.
  case release(RequestID, InstanceID, SocketID)
  /// Data, an error or a hang-up arrived on watched sockets.
  case ready(InstanceID, [SocketReadiness])
  /// The application closed sockets without releasing them.
  case closed(InstanceID, [SocketID])
  /// The daemon can no longer watch sockets that the application still has.
  case lost(InstanceID, [SocketID])

  var request: RequestID? {
    switch self {
    case .manage(let request, _, _), .release(let request, _, _): request
    case .ready, .closed, .lost: nil
    }
  }
}

/// A socket-related action of the daemon.
public enum SocketEffect: Equatable, Sendable {
  /// Keeps a copy of the socket's descriptor, even across restarts of the daemon.
  case hold(InstanceID, SocketID)
  case release(InstanceID, SocketID)
  /// Watches the sockets of a suspended instance. ``SocketEvent/ready(_:_:)`` reports data that
  /// arrives from now on, and data that the instance has not read yet.
  case watch(InstanceID)
  case stopWatching(InstanceID)
}

/// The managed sockets of one instance.
struct ManagedSockets: Equatable, Sendable {
  /// The sockets, in the order in which the application handed them over.
  private(set) var ids: [SocketID] = []

  var isEmpty: Bool { ids.isEmpty }

  mutating func add(_ id: SocketID) {
    ids.append(id)
  }

  /// Ends the management of a socket.
  ///
  /// - Returns: Whether the socket was managed.
  mutating func remove(_ id: SocketID) -> Bool {
    guard let index = ids.firstIndex(of: id) else { return false }
    ids.remove(at: index)
    return true
  }

  func check() throws(InvariantViolation) {
    try require(Set(ids).count == ids.count, "an instance manages a socket twice")
  }
}

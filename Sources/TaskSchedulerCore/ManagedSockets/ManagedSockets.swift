// Managed sockets (contract §7): an application hands them over so that arriving data resumes it.
// The daemon watches them while the application is suspended.

/// The conditions that the daemon found on a watched socket.
public struct SocketConditions: OptionSet, Hashable, Sendable {
  public let rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  /// Data has arrived.
  public static let data = SocketConditions(rawValue: 1)
  /// Urgent (out-of-band) data has arrived.
  public static let urgentData = SocketConditions(rawValue: 2)
  /// The peer has closed the connection, or its sending half.
  public static let hangUp = SocketConditions(rawValue: 4)
  public static let error = SocketConditions(rawValue: 8)
  /// The daemon no longer has its copy of the descriptor, because it died without a service manager
  /// that keeps it. The application must hand the socket over again.
  public static let unwatched = SocketConditions(rawValue: 16)
}

/// A managed socket that is ready.
public struct SocketReadiness: Hashable, Sendable {
  public var socket: SocketID
  public var conditions: SocketConditions

  public init(_ socket: SocketID, _ conditions: SocketConditions) {
    self.socket = socket
    self.conditions = conditions
  }
}

/// An event about managed sockets.
public enum SocketEvent: Hashable, Sendable {
  /// The application hands over a socket that the daemon can watch.
  case manage(RequestID, InstanceID, SocketID)
  /// The application takes a socket back.
  case release(RequestID, InstanceID, SocketID)
  /// Data, an error or a hang-up arrived on watched sockets.
  case ready(InstanceID, [SocketReadiness])
  /// The application closed sockets without taking them back.
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

/// An action of the daemon on managed sockets.
public enum SocketEffect: Hashable, Sendable {
  /// Manages the socket from now on.
  case hold(InstanceID, SocketID)
  case letGo(InstanceID, SocketID)
  /// Watches the sockets of a suspended instance. The daemon reports what arrives from now on, or
  /// has arrived since the instance last read, by ``SocketEvent/ready(_:_:)``.
  case watch(InstanceID)
  case stopWatching(InstanceID)
}

/// The managed sockets of one instance.
struct ManagedSockets: Hashable, Sendable {
  /// The sockets, in the order in which the application handed them over.
  private(set) var ids: [SocketID] = []

  var isEmpty: Bool { ids.isEmpty }

  mutating func add(_ id: SocketID) {
    ids.append(id)
  }

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

extension Scheduler {
  mutating func handle(_ event: SocketEvent, in turn: inout Turn) {
    switch event {
    case .manage(let request, let id, let socket):
      with(id, orRefuse: request, in: &turn) { $0.manageSocket(socket, request, in: &$1) }
    case .release(let request, let id, let socket):
      with(id, orRefuse: request, in: &turn) { $0.releaseSocket(socket, request, in: &$1) }
    case .ready(let id, let sockets):
      with(id, in: &turn) { $0.socketsReady(sockets, in: &$1) }
      useWakeUp(in: &turn)
    case .closed(let id, let sockets):
      with(id, in: &turn) { instance, turn in
        for socket in sockets { instance.dropSocket(socket, in: &turn) }
      }
    case .lost(let id, let sockets):
      with(id, in: &turn) { $0.socketsLost(sockets, in: &$1) }
    }
  }
}

extension Instance {
  fileprivate mutating func manageSocket(
    _ socket: SocketID, _ request: RequestID, in turn: inout Turn
  ) {
    if sockets.ids.contains(socket) { return turn.reply(request, .managed(socket)) }
    if let refusal = refusalOfSocket(turn.policy) {
      turn.emit(.socket(.letGo(id, socket)))
      turn.reply(request, .refused(refusal))
      return record(.refused(refusal), in: &turn)
    }
    sockets.add(socket)
    turn.emit(.socket(.hold(id, socket)))
    // The request was on its way when the processes were stopped.
    if state == .suspended, suspension == .none { turn.emit(.socket(.watch(id))) }
    turn.reply(request, .managed(socket))
    record(.socketManaged(socket), in: &turn)
  }

  private func refusalOfSocket(_ policy: Policy) -> Refusal? {
    if termination != nil { return .terminating }
    guard backgroundModes.contains(.voip) else { return .modeNotDeclared(.voip) }
    guard sockets.ids.count < policy.socketsPerApplicationMax else {
      return .quotaExceeded(
        name: "MaxSocketsPerApplication", limit: policy.socketsPerApplicationMax)
    }
    return nil
  }

  fileprivate mutating func releaseSocket(
    _ socket: SocketID, _ request: RequestID, in turn: inout Turn
  ) {
    guard sockets.ids.contains(socket) else {
      turn.reply(request, .refused(.unknownSocket(socket)))
      return record(.refused(.unknownSocket(socket)), in: &turn)
    }
    dropSocket(socket, in: &turn)
    turn.reply(request, .done)
  }

  fileprivate mutating func dropSocket(_ socket: SocketID, in turn: inout Turn) {
    guard sockets.remove(socket) else { return }
    turn.emit(.socket(.letGo(id, socket)))
    record(.socketReleased(socket), in: &turn)
  }

  fileprivate mutating func socketsReady(_ ready: [SocketReadiness], in turn: inout Turn) {
    let known = ready.filter { sockets.ids.contains($0.socket) }
    if known.isEmpty || termination != nil { return }
    wake(for: known, in: &turn)
  }

  fileprivate mutating func socketsLost(_ lost: [SocketID], in turn: inout Turn) {
    let known = lost.filter { sockets.remove($0) }
    if known.isEmpty || termination != nil { return }
    wake(for: known.map { SocketReadiness($0, .unwatched) }, in: &turn)
  }

  /// Resumes the application, if it is suspended, and gives it `EventTime` to handle the sockets.
  private mutating func wake(for ready: [SocketReadiness], in turn: inout Turn) {
    record(.socketsReady(ready), in: &turn)
    let event = callbacks.nextID()
    let notice = Notice.socketsReady(event, ready)
    handling.begin(event, notice, until: turn.instant.advanced(by: turn.policy.eventTime))
    if state == .suspended { leaveSuspended(to: .background, cause: .event, in: &turn) }
    if hasStream { turn.emit(.notify(id, notice)) }
    reconsider(in: &turn)
  }
}

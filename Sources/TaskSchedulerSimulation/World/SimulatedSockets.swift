import TaskSchedulerCore

/// The managed sockets of the simulated applications, as the kernel keeps them.
///
/// Received data stays until the application reads it. The daemon sees the data while it watches
/// the sockets.
struct SimulatedSockets {
  private struct Held {
    let instance: InstanceID
    let socket: SocketID
    var conditions: SocketConditions = []
    /// Whether the daemon has reported the newest data.
    var isReported = false
  }

  private var held: [Held] = []
  private var watched: Set<InstanceID> = []


  mutating func hold(_ socket: SocketID, of id: InstanceID) {
    // After a death of the daemon, the next daemon may repeat the effect.
    if held.contains(where: { $0.instance == id && $0.socket == socket }) { return }
    held.append(Held(instance: id, socket: socket))
  }

  mutating func release(_ socket: SocketID, of id: InstanceID) {
    held.removeAll { $0.instance == id && $0.socket == socket }
  }

  mutating func forget(_ id: InstanceID) {
    held.removeAll { $0.instance == id }
    watched.remove(id)
  }

  func of(_ id: InstanceID) -> [SocketID] { held.filter { $0.instance == id }.map(\.socket) }

  var owners: [InstanceID] {
    held.reduce(into: []) { if !$0.contains($1.instance) { $0.append($1.instance) } }
  }

  func isWatched(_ id: InstanceID) -> Bool { watched.contains(id) }

  mutating func watch(_ id: InstanceID) { watched.insert(id) }
  mutating func stopWatching(_ id: InstanceID) { watched.remove(id) }

  /// Forgets the state of the dead daemon. The next daemon examines all sockets again.
  mutating func daemonDied() {
    watched = []
    for index in held.indices { held[index].isReported = false }
  }

  mutating func arrive(_ conditions: SocketConditions, on socket: SocketID, of id: InstanceID) {
    for index in held.indices where held[index].instance == id && held[index].socket == socket {
      held[index].conditions.formUnion(conditions)
      held[index].isReported = false
    }
  }

  mutating func read(by id: InstanceID) {
    for index in held.indices where held[index].instance == id { held[index].conditions = [] }
  }

  /// Returns the sockets of a watched instance that have data which the daemon has not reported.
  mutating func takeReady(of id: InstanceID) -> [SocketReadiness] {
    guard watched.contains(id) else { return [] }
    var ready: [SocketReadiness] = []
    for index in held.indices
    where held[index].instance == id && !held[index].conditions.isEmpty && !held[index].isReported {
      held[index].isReported = true
      ready.append(SocketReadiness(held[index].socket, held[index].conditions))
    }
    return ready
  }

  /// Returns an instance that has unread data and meets a condition.
  func unread(where condition: (InstanceID) -> Bool) -> InstanceID? {
    held.first { !$0.conditions.isEmpty && condition($0.instance) }?.instance
  }
}

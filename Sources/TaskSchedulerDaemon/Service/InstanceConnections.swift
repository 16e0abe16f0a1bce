import LinuxSystem
import TaskSchedulerCore

/// The known connections of each instance.
///
/// Before the scheduler enforces a limit, the daemon carries out the pending calls of the instance.
/// It must not search all connections for these calls, because one user may have thousands of
/// connections.
final class InstanceConnections {
  private typealias Connections = [ObjectIdentifier: Connection]

  /// The connections of each instance. Most instances have one connection, and a dictionary would
  /// take twice the memory of an array.
  private var byInstance: [InstanceID: [Connection]] = [:]
  /// The connections whose instance is not known, by user.
  private var unplaced: [UInt32: Connections] = [:]

  func add(_ connection: Connection) {
    unplaced[connection.peer.uid, default: [:]][ObjectIdentifier(connection)] = connection
  }

  func remove(_ connection: Connection) {
    if let id = connection.knownInstance {
      if let index = byInstance[id]?.firstIndex(where: { $0 === connection }) {
        byInstance[id]?.remove(at: index)
      }
      if byInstance[id]?.isEmpty == true { byInstance[id] = nil }
    } else {
      let uid = connection.peer.uid
      unplaced[uid]?[ObjectIdentifier(connection)] = nil
      if unplaced[uid]?.isEmpty == true { unplaced[uid] = nil }
    }
  }

  /// The users with connections whose instance is not known.
  var users: [UInt32] { unplaced.sortedKeys }

  /// Returns the connections that are known to belong to an instance.
  func known(of id: InstanceID) -> [Connection] { byInstance[id] ?? [] }

  /// Stores the instance of a connection, if the daemon knows it. The daemon may have determined
  /// the instance to carry out a client's call, so the owner uses this function after each call.
  func note(_ connection: Connection) {
    guard let instance = connection.peer.instance, connection.knownInstance != instance.id,
      connection.isOpen
    else { return }
    remove(connection)
    connection.knownInstance = instance.id
    byInstance[instance.id, default: []].append(connection)
  }

  /// Removes an instance that has ended. Its connections may belong to another instance later.
  func forget(_ id: InstanceID) {
    for connection in byInstance.removeValue(forKey: id) ?? [] {
      connection.knownInstance = nil
      add(connection)
    }
  }

  /// Returns whether the connection certainly belongs to no instance. The answer is valid until
  /// another instance is added, because the client's process may belong to the new instance.
  func isUnmanaged(_ connection: Connection, _ applications: ApplicationService) -> Bool {
    let generation = applications.membershipGeneration
    if connection.peer.unmanagedSince == generation { return true }
    do throws(SystemError) {
      guard try applications.instance(of: connection.peer) == nil else {
        note(connection)
        return false
      }
      connection.peer.unmanagedSince = generation
      return true
    } catch {
      // The daemon lacks descriptors, for example, and a later attempt may find the instance.
      return false
    }
  }

  /// Determines the instances of those connections of one user that have pending calls.
  ///
  /// - Parameter end: The instant at which to stop, in nanoseconds since boot.
  /// - Returns: The connections whose instance was determined, and whether all were examined.
  func place(
    of user: UInt32, _ applications: ApplicationService, until end: UInt64
  ) -> (found: [Connection], isAll: Bool) {
    let generation = applications.membershipGeneration
    var found: [Connection] = []
    for connection in (unplaced[user] ?? [:]).values
    where connection.peer.unmanagedSince != generation && connection.hasUnread {
      guard BootClock.now() < end else { return (found, false) }
      if !isUnmanaged(connection, applications), connection.knownInstance != nil {
        found.append(connection)
      }
    }
    return (found, true)
  }
}

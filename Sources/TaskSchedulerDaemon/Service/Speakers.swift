import LinuxSystem
import TaskSchedulerCore

/// Which connections speak for which instance, as far as it is known.
///
/// Before a limit is enforced, what its instance has called is carried out. To find its
/// connections, the daemon must not look at all: one user may have thousands.
final class Speakers {
  private typealias Connections = [ObjectIdentifier: Connection]

  private var byInstance: [InstanceID: Connections] = [:]
  /// By user, those that are not known to speak for an instance.
  private var unplaced: [UInt32: Connections] = [:]

  func add(_ connection: Connection) {
    unplaced[connection.peer.uid, default: [:]][ObjectIdentifier(connection)] = connection
  }

  func remove(_ connection: Connection) {
    if let id = connection.speaksFor {
      byInstance[id]?[ObjectIdentifier(connection)] = nil
      if byInstance[id]?.isEmpty == true { byInstance[id] = nil }
    } else {
      let uid = connection.peer.uid
      unplaced[uid]?[ObjectIdentifier(connection)] = nil
      if unplaced[uid]?.isEmpty == true { unplaced[uid] = nil }
    }
  }

  /// The users with connections that are not known to speak for an instance.
  var users: [UInt32] { unplaced.keys.sorted() }

  /// The connections that are known to speak for an instance.
  func known(of id: InstanceID) -> [Connection] { (byInstance[id] ?? [:]).values.map { $0 } }

  /// A call may have made known which instance the connection speaks for.
  func note(_ connection: Connection) {
    guard let instance = connection.peer.instance, connection.speaksFor != instance.id,
      connection.isOpen
    else { return }
    remove(connection)
    connection.speaksFor = instance.id
    byInstance[instance.id, default: [:]][ObjectIdentifier(connection)] = connection
  }

  /// The instance is over: its connections may speak for another one some day.
  func forget(_ id: InstanceID) {
    for connection in (byInstance.removeValue(forKey: id) ?? [:]).values {
      connection.speaksFor = nil
      add(connection)
    }
  }

  /// Whether the connection speaks for no instance. Remembered until there is another instance,
  /// which its process may belong to.
  func isStranger(_ connection: Connection, _ applications: ApplicationService) -> Bool {
    let generation = applications.membershipGeneration
    if connection.peer.strangerSince == generation { return true }
    do throws(SystemError) {
      guard try applications.instance(of: connection.peer) == nil else {
        note(connection)
        return false
      }
      connection.peer.strangerSince = generation
    } catch {
      // It is told when its call is carried out.
    }
    return true
  }

  /// Finds out which instances the connections of one user speak for that wait to be heard.
  ///
  /// - Parameter end: when it is to stop (CLOCK_BOOTTIME).
  /// - Returns: those of which it was found out, and whether all were looked at.
  func place(
    of user: UInt32, _ applications: ApplicationService, until end: UInt64
  ) -> (found: [Connection], isAll: Bool) {
    let generation = applications.membershipGeneration
    var found: [Connection] = []
    for connection in (unplaced[user] ?? [:]).values
    where connection.peer.strangerSince != generation && connection.hasUnheard {
      guard BootClock.now() < end else { return (found, false) }
      if !isStranger(connection, applications) { found.append(connection) }
    }
    return (found, true)
  }
}

import TaskSchedulerCore
import TaskSchedulerJournal
import TaskSchedulerWire

/// Those who watch all changes: each sees the applications that it may.
final class Monitors {
  private var connections: [ObjectIdentifier: (connection: Connection, uid: UInt32?)] = [:]
  private var countByUser: [UInt32: Int] = [:]
  private let journal: Journal

  init(journal: Journal) {
    self.journal = journal
  }

  /// How many monitors a user has.
  func count(of user: UInt32) -> Int { countByUser[user] ?? 0 }

  /// - Parameter uid: the user whose applications it may see; nil for all.
  func add(_ connection: Connection, uid: UInt32?) {
    let monitor = Holdings.Monitor(uid: uid)
    journal.note(.monitor(monitor, connection: connection.cookie))
    restore(connection, monitor)
  }

  /// It began to watch with an earlier daemon.
  func restore(_ connection: Connection, _ monitor: Holdings.Monitor) {
    connection.role = .monitor(monitor)
    let uid = monitor.uid
    connections[ObjectIdentifier(connection)] = (connection, uid)
    countByUser[connection.peer.uid, default: 0] += 1
  }

  func remove(_ connection: Connection) {
    guard connections.removeValue(forKey: ObjectIdentifier(connection)) != nil else { return }
    let user = connection.peer.uid
    countByUser[user] = count(of: user) > 1 ? count(of: user) - 1 : nil
  }

  /// Tells all that may see it of a change, written once.
  ///
  /// Whoever sees its user's own applications alone waits for that user's turn, where the user has
  /// none left: the changes are the user's, too. Operators do not pay for what others do.
  func tell(_ record: Record, at now: Instant) {
    if connections.isEmpty { return }
    var message: [UInt8] = []
    for (connection, uid) in connections.values
    where uid == nil || uid == record.application.owner.uid {
      if message.isEmpty {
        let output = ControlInterface.Monitor.Output(change: .init(record, at: now))
        TaskSchedulerWire.Reply.append(parameters: output, continues: true, to: &message)
      }
      connection.tell(message, inTurn: uid != nil)
    }
  }
}

import TaskSchedulerCore
import TaskSchedulerJournal
import TaskSchedulerWire

/// Those who watch all changes: each sees the applications that it may.
final class Monitors {
  private var connections: [ObjectIdentifier: (connection: Connection, uid: UInt32?)] = [:]
  private let journal: Journal

  init(journal: Journal) {
    self.journal = journal
  }

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
  }

  func remove(_ connection: Connection) {
    connections[ObjectIdentifier(connection)] = nil
  }

  func tell(_ record: Record, at now: Instant) {
    if connections.isEmpty { return }
    let owner = record.application.owner
    let whole = ControlInterface.Monitor.Output(change: .init(record, at: now))
    let owners = ControlInterface.Monitor.Output(
      change: .init(record, at: now) { $0 == owner })
    for (connection, uid) in connections.values where uid == nil || uid == owner.uid {
      connection.reply(uid == nil ? whole : owners, continues: true)
    }
  }
}

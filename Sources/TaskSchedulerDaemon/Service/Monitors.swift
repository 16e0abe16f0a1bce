import TaskSchedulerCore
import TaskSchedulerWire

/// Those who watch all changes: each sees the applications that it may.
final class Monitors {
  private var connections: [ObjectIdentifier: (connection: Connection, uid: UInt32?)] = [:]

  /// - Parameter uid: the user whose applications it may see; nil for all.
  func add(_ connection: Connection, uid: UInt32?) {
    connection.role = .monitor
    connections[ObjectIdentifier(connection)] = (connection, uid)
  }

  func remove(_ connection: Connection) {
    connections[ObjectIdentifier(connection)] = nil
  }

  func tell(_ record: Record, at now: Instant) {
    if connections.isEmpty { return }
    let output = ControlInterface.Monitor.Output(change: .init(record, at: now))
    for (connection, uid) in connections.values
    where uid == nil || uid == record.application.owner.uid {
      connection.reply(output, continues: true)
    }
  }
}

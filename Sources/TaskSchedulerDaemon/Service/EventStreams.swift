import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The connections on which applications hear what happens to them: one for each instance.
final class EventStreams {
  private var connections: [InstanceID: Connection] = [:]
  private let eventLog: EventLog
  private let find: (InstanceID) -> InstanceProcesses?

  init(eventLog: EventLog, find: @escaping (InstanceID) -> InstanceProcesses?) {
    self.eventLog = eventLog
    self.find = find
  }

  /// Makes a connection the instance's stream, in place of an earlier one.
  func open(_ id: InstanceID, _ connection: Connection) {
    if let earlier = connections[id], earlier !== connection {
      connections[id] = nil
      earlier.fail(ApplicationInterface.Failure.streamReplaced)
    }
    eventLog.note(.stream(id, connection: connection.cookie))
    restore(id, connection)
  }

  /// The stream was opened with an earlier daemon.
  func restore(_ id: InstanceID, _ connection: Connection) {
    connections[id] = connection
    if let instance = find(id) { connection.role = .eventStream(instance) }
  }

  /// Whether an instance has its stream.
  func isOpen(_ id: InstanceID) -> Bool { connections[id] != nil }

  func send(_ event: ApplicationInterface.Register.Output, to id: InstanceID) {
    connections[id]?.reply(event, continues: true)
  }

  /// The instance has ended.
  func close(_ id: InstanceID) {
    connections.removeValue(forKey: id)?.close(reason: nil)
  }

  /// A connection is closed. Returns the instance whose stream it was.
  func closed(_ connection: Connection) -> InstanceID? {
    guard case .eventStream(let instance) = connection.role,
      connections[instance.id] === connection
    else { return nil }
    connections[instance.id] = nil
    return instance.id
  }
}

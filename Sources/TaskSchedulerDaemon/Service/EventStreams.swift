import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The event streams: the connections on which applications receive events, one for each instance.
final class EventStreams {
  private var connections: [InstanceID: Connection] = [:]
  private let eventLog: EventLog
  private let find: (InstanceID) -> InstanceProcesses?

  init(eventLog: EventLog, find: @escaping (InstanceID) -> InstanceProcesses?) {
    self.eventLog = eventLog
    self.find = find
  }

  /// Makes a connection the event stream of an instance, and replaces an earlier event stream.
  func open(_ id: InstanceID, _ connection: Connection) {
    if let earlier = connections[id], earlier !== connection {
      connections[id] = nil
      earlier.fail(ApplicationInterface.Failure.streamReplaced)
    }
    eventLog.note(.stream(id, connection: connection.cookie))
    restore(id, connection)
  }

  /// Restores an event stream from an earlier daemon.
  func restore(_ id: InstanceID, _ connection: Connection) {
    connections[id] = connection
    if let instance = find(id) { connection.role = .eventStream(instance) }
  }

  /// Returns whether an instance has an event stream.
  func isOpen(_ id: InstanceID) -> Bool { connections[id] != nil }

  func send(_ event: ApplicationInterface.Register.Output, to id: InstanceID) {
    connections[id]?.reply(event, continues: true)
  }

  /// Closes the event stream of an instance that has ended.
  func close(_ id: InstanceID) {
    connections.removeValue(forKey: id)?.close(reason: nil)
  }

  /// Removes a closed connection. Returns the instance whose event stream it was.
  func closed(_ connection: Connection) -> InstanceID? {
    guard case .eventStream(let instance) = connection.role,
      connections[instance.id] === connection
    else { return nil }
    connections[instance.id] = nil
    return instance.id
  }
}

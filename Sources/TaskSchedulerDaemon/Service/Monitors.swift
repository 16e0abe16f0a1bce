import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The connections on which clients monitor applications. A connection receives the changes of
/// those applications that its user may see.
///
/// Monitors of a single application are indexed by the application's id, because each `taskctl run`
/// is such a monitor. A change of one application costs no time for monitors of others.
final class Monitors {
  private typealias Entry = (connection: Connection, limits: DaemonState.Monitor)
  private typealias Watching = [ObjectIdentifier: Entry]

  private var ofAll: Watching = [:]
  private var ofOne: [String: Watching] = [:]
  private var counts: [Watcher: Int] = [:]
  private let eventLog: EventLog

  /// The key by which the daemon counts monitors.
  private struct Watcher: Hashable {
    var user: UInt32
    /// The application's id; nil for monitors of all applications.
    var application: String?
  }

  init(eventLog: EventLog) {
    self.eventLog = eventLog
  }

  /// Returns the number of a user's monitors that watch `application`, or that watch all
  /// applications if `application` is nil. The number has a limit, because the daemon may have to
  /// send one change to all these monitors.
  func count(of user: UInt32, watching application: String?) -> Int {
    counts[Watcher(user: user, application: application)] ?? 0
  }

  func add(_ connection: Connection, _ monitor: DaemonState.Monitor) {
    eventLog.note(.monitor(monitor, connection: connection.cookie))
    restore(connection, monitor)
  }

  /// Restores a monitor from an earlier daemon.
  func restore(_ connection: Connection, _ monitor: DaemonState.Monitor) {
    connection.role = .monitor(monitor)
    let entry = (connection, monitor)
    if let application = monitor.application {
      ofOne[application, default: [:]][ObjectIdentifier(connection)] = entry
    } else {
      ofAll[ObjectIdentifier(connection)] = entry
    }
    let watcher = Watcher(user: connection.peer.uid, application: monitor.application)
    counts[watcher, default: 0] += 1
  }

  func remove(_ connection: Connection) {
    guard case .monitor(let monitor) = connection.role else { return }
    let watcher = Watcher(user: connection.peer.uid, application: monitor.application)
    let count = counts[watcher] ?? 1
    counts[watcher] = count > 1 ? count - 1 : nil
    guard let application = monitor.application else {
      ofAll[ObjectIdentifier(connection)] = nil
      return
    }
    ofOne[application]?[ObjectIdentifier(connection)] = nil
    if ofOne[application]?.isEmpty == true { ofOne[application] = nil }
  }

  /// Sends a change to all monitors that may see it. Encodes the change at most twice: once with
  /// and once without the names of other users' applications.
  ///
  /// A monitor of one user's applications usually belongs to that user, and that user caused the
  /// changes. The message therefore waits for the user's turn if the user has no credit left. A
  /// message to a monitor of all users' applications does not wait, because the monitor's user did
  /// not cause all changes.
  func send(_ record: Record, at now: Instant) {
    var messages: [Bool: [UInt8]] = [:]
    func send(_ entries: Watching) {
      for entry in entries.values where entry.limits.sees(record.application) {
        let seesAll = entry.limits.uid == nil
        if messages[seesAll] == nil { messages[seesAll] = message(record, at: now, seesAll) }
        entry.connection.sendMessage(messages[seesAll] ?? [], inTurn: !seesAll)
      }
    }
    send(ofAll)
    if !ofOne.isEmpty { send(ofOne[record.application.id.name] ?? [:]) }
  }

  /// Encodes the message about a change.
  ///
  /// - Parameter seesAll: Whether the monitor may see the applications of all users. Otherwise a
  ///   change names no other user's application.
  private func message(_ record: Record, at now: Instant, _ seesAll: Bool) -> [UInt8] {
    let owner = record.application.owner
    var message: [UInt8] = []
    TaskSchedulerWire.Reply.append(
      parameters: ControlInterface.Monitor.Output(
        change: .init(record, at: now) { seesAll || $0 == owner }),
      continues: true, to: &message)
    return message
  }
}

extension DaemonState.Monitor {
  /// Returns whether the monitor receives changes of this application.
  func sees(_ key: ApplicationKey) -> Bool {
    (uid ?? key.owner.uid) == key.owner.uid && (application ?? key.id.name) == key.id.name
  }
}

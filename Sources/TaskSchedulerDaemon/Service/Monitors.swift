import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The connections that are told of changes: each sees the applications that it may.
///
/// Those that watch one application are kept by its id, so that however many there are – each
/// `taskctl run` is one – a change costs only those that it is about.
final class Monitors {
  private typealias Entry = (connection: Connection, limits: Holdings.Monitor)
  private typealias Watching = [ObjectIdentifier: Entry]

  private var ofAll: Watching = [:]
  private var ofOne: [String: Watching] = [:]
  private var counts: [Watcher: Int] = [:]
  private let eventLog: EventLog

  /// What monitors are counted by.
  private struct Watcher: Hashable {
    var user: UInt32
    /// nil for monitors of all applications.
    var application: String?
  }

  init(eventLog: EventLog) {
    self.eventLog = eventLog
  }

  /// How many monitors a user has of one application, or (nil) that are not limited to one. So many
  /// may have to be told of one change.
  func count(of user: UInt32, watching application: String?) -> Int {
    counts[Watcher(user: user, application: application)] ?? 0
  }

  func add(_ connection: Connection, _ monitor: Holdings.Monitor) {
    eventLog.note(.monitor(monitor, connection: connection.cookie))
    restore(connection, monitor)
  }

  /// It began to watch with an earlier daemon.
  func restore(_ connection: Connection, _ monitor: Holdings.Monitor) {
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

  /// Tells all that may see it of a change, written once.
  ///
  /// A monitor that sees its user's own applications alone waits for that user's turn, where the
  /// user has none left: the changes are the user's, too. Operators do not pay for what others do.
  func tell(_ record: Record, at now: Instant) {
    var messages: [Bool: [UInt8]] = [:]
    func tell(_ entries: Watching) {
      for entry in entries.values where entry.limits.sees(record.application) {
        let seesAll = entry.limits.uid == nil
        if messages[seesAll] == nil { messages[seesAll] = message(record, at: now, seesAll) }
        entry.connection.tell(messages[seesAll] ?? [], inTurn: !seesAll)
      }
    }
    tell(ofAll)
    if !ofOne.isEmpty { tell(ofOne[record.application.id.name] ?? [:]) }
  }

  /// - Parameter seesAll: whether the monitor may see the applications of all users; else a change
  ///   names no other user's application.
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

extension Holdings.Monitor {
  /// Whether the monitor is told of this application.
  func sees(_ key: ApplicationKey) -> Bool {
    (uid ?? key.owner.uid) == key.owner.uid && (application ?? key.id.name) == key.id.name
  }
}

import TaskSchedulerCore
import TaskSchedulerJournal
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
  private let journal: Journal

  init(journal: Journal) {
    self.journal = journal
  }

  func add(_ connection: Connection, _ monitor: Holdings.Monitor) {
    journal.note(.monitor(monitor, connection: connection.cookie))
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
  }

  func remove(_ connection: Connection) {
    ofAll[ObjectIdentifier(connection)] = nil
    guard case .monitor(let monitor) = connection.role, let application = monitor.application
    else { return }
    ofOne[application]?[ObjectIdentifier(connection)] = nil
    if ofOne[application]?.isEmpty == true { ofOne[application] = nil }
  }

  func tell(_ record: Record, at now: Instant) {
    let limited = ofOne.isEmpty ? nil : ofOne[record.application.id.name]
    if ofAll.isEmpty, limited == nil { return }
    let output = ControlInterface.Monitor.Output(change: .init(record, at: now))
    for entry in ofAll.values where entry.limits.sees(record.application) {
      entry.connection.reply(output, continues: true)
    }
    for entry in (limited ?? [:]).values where entry.limits.sees(record.application) {
      entry.connection.reply(output, continues: true)
    }
  }
}

extension Holdings.Monitor {
  /// Whether the monitor is told of this application.
  func sees(_ key: ApplicationKey) -> Bool {
    (uid ?? key.owner.uid) == key.owner.uid && (application ?? key.id.name) == key.id.name
  }
}

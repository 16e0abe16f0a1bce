import TaskSchedulerCore
import TaskSchedulerWire

extension ControlInterface.Change {
  /// Creates the message that a monitor receives about a record.
  ///
  /// - Parameter isVisible: Returns whether the monitor may see the applications of a user.
  init(_ record: Record, at now: Instant, isVisible: (UserID) -> Bool = { _ in true }) {
    let description = record.change.description(isVisible: isVisible)
    let id = record.application.id
    self.init(
      kind: .init(description.kind), atUSec: now.microseconds, application: id.name,
      owner: Int(record.application.owner.uid), pid: record.leader.map { Int($0.pid) },
      message: description.sentence(about: id))
    for field in description.fields { set(field.name, field.value) }
  }

  /// Sets the field that corresponds to a detail of the record. A detail without a field of its own
  /// appears only in the text of `message`.
  private mutating func set(_ name: String, _ value: RecordValue) {
    switch value {
    case .text(let text):
      switch name {
      case "from": from = .init(rawValue: text)
      case "to": to = .init(rawValue: text)
      case "cause": cause = text
      case "by": by = text
      case "reason": reason = text
      case "taskName": taskName = text
      default: break
      }
    case .number(let number): if name == "task" { task = Int(clamping: number) }
    case .texts, .duration, .bytes: break
    }
  }
}

extension ControlInterface.ChangeKind {
  init(_ kind: Record.Kind) {
    guard let kind = Self(rawValue: kind.rawValue) else {
      preconditionFailure("org.taskschedd.Control has no kind of changes \(kind.rawValue)")
    }
    self = kind
  }
}

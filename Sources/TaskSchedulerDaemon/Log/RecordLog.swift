import LinuxSystem
import TaskSchedulerCore

// Only this file logs the scheduler's decisions.

extension Log {
  /// Writes a record of the scheduler.
  ///
  /// - Parameter unit: Returns the systemd unit of the leader that the record is about.
  func write(_ record: Record, at now: Instant, unit: () -> SystemdUnit?) {
    let level = record.change.level
    guard isWritten(level) else { return }
    let description = record.change.description()
    let (id, owner) = (record.application.id, record.application.owner)
    switch budget.verdict(on: description, of: owner, at: now) {
    case .write(let leftOut):
      if leftOut > 0 {
        write(.warning, "suppressed \(leftOut) records about applications of user \(owner.uid)")
      }
      // The sentence for the owner must not name another user's application.
      let sentenceForOwner = record.change.description { $0 == owner }.sentence(about: id)
      recent.add(record, level, PrintableText.of(sentenceForOwner), at: now)
      write(
        level, description.sentence(about: id), rawID: description.kind.messageID,
        fields: goesToJournal ? record.fields(description) + record.objectFields(unit()) : [])
    case .beginLeavingOut:
      write(
        .warning,
        "applications of user \(owner.uid) caused \(RecordBudget.recordsMax) records within "
          + "\(TimeSpan.format(RecordBudget.interval)); suppressing further records until this "
          + "interval ends")
    case .leaveOut:
      break
    }
  }
}

extension Record {
  /// Returns the record's fields for the journal: `taskName` becomes `TASKSCHEDD_TASK_NAME`.
  fileprivate func fields(
    _ description: RecordDescription
  ) -> [(name: String, value: String)] {
    var fields = [
      (name: "TASKSCHEDD_APP", value: application.id.name),
      (name: "TASKSCHEDD_OWNER", value: "\(application.owner.uid)"),
    ]
    if let leader { fields.append(("TASKSCHEDD_PID", "\(leader.pid)")) }
    for field in description.fields {
      let name = "TASKSCHEDD_" + Self.journalName(field.name)
      for text in field.value.texts { fields.append((name, text)) }
    }
    return fields
  }

  /// Returns a field's name as the journal writes it: `REMAINING_USEC` for `remainingUSec`.
  static func journalName(_ name: String) -> String {
    var result = ""
    var isAfterSmall = false
    for character in name {
      if isAfterSmall, character.isUppercase { result += "_" }
      result += character.uppercased()
      isAfterSmall = character.isLowercase
    }
    return result
  }

  /// Returns the fields that make `journalctl -u UNIT` show the record with the output of the
  /// application's unit (systemd.journal-fields(7)).
  ///
  /// journald accepts OBJECT_PID= from the system's daemon, and adds further fields of the process
  /// with that pid. The daemon omits OBJECT_PID= for a leader that has exited, because the kernel
  /// may have reused the pid.
  fileprivate func objectFields(_ unit: SystemdUnit?) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    if let leader, !isOfExitedLeader { fields.append(("OBJECT_PID", "\(leader.pid)")) }
    if let unit {
      fields.append(("OBJECT_SYSTEMD_UNIT", unit.name))
      if let name = unit.userName { fields.append(("OBJECT_SYSTEMD_USER_UNIT", name)) }
    }
    return fields
  }

  private var isOfExitedLeader: Bool {
    if case .ended = change { return true }
    if case .transition(_, to: .notRunning, _) = change { return true }
    return false
  }
}

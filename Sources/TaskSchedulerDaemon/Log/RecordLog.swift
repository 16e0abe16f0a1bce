import LinuxSystem
import TaskSchedulerCore

// The only place that logs the scheduler's decisions.

extension Log {
  /// Writes a record of the scheduler.
  ///
  /// - Parameter unit: Returns the systemd unit of the record's leader.
  func write(_ record: Record, at now: Instant, unit: () -> SystemdUnit?) {
    let (level, id) = record.kind
    guard isWritten(level) else { return }
    let user = record.application.owner.uid
    switch budget.verdict(on: record, at: now) {
    case .write(let leftOut):
      if leftOut > 0 {
        write(.warning, "suppressed \(leftOut) records about applications of user \(user)")
      }
      let fields = goesToJournal ? record.fields + record.objectFields(unit()) : []
      recent.add(record, level, PrintableText.of(record.messageForOwner), at: now)
      write(level, record.message, id: id, fields: fields)
    case .beginLeavingOut:
      write(
        .warning,
        "applications of user \(user) caused \(RecordBudget.recordsMax) records within "
          + "\(TimeSpan.format(RecordBudget.interval)); suppressing further records until then")
    case .leaveOut:
      break
    }
  }
}

extension Record {
  fileprivate var kind: (level: LogLevel, id: MessageID) {
    switch change {
    case .transition(from: .notRunning, to: _, cause: .launch): (.info, .launched)
    case .transition: (.info, .transition)
    case .registered: (.info, .registered)
    case .taskBegan: (.info, .taskBegan)
    case .taskEnded: (.info, .taskEnded)
    case .taskExpired: (.notice, .taskExpired)
    case .ended(let end): (end.reason.level, .ended)
    case .refused: (.notice, .refused)
    case .suspensionFailed: (.warning, .suspensionFailed)
    case .signalFailed: (.warning, .signalFailed)
    case .keepAliveSet: (.info, .keepAliveSet)
    case .keepAliveCalled: (.info, .keepAliveCalled)
    case .socketManaged, .socketReleased: (.info, .socketManaged)
    case .socketsReady: (.info, .socketsReady)
    case .notificationScheduled, .notificationsCancelled: (.info, .notificationScheduled)
    case .notificationFired: (.info, .notificationFired)
    case .notificationChosen: (.info, .notificationChosen)
    case .badgeSet: (.debug, .badgeSet)
    case .relaunchPlanned: (.notice, .relaunchPlanned)
    case .memoryWarned: (.info, .memoryWarned)
    case .memoryChosen: (.notice, .memoryChosen)
    case .resources(.throttled): (.notice, .throttled)
    case .resources(.listens): (.notice, .listening)
    case .resources: (.warning, .ruleBroken)
    }
  }

  /// The fields by which `journalctl -u UNIT` shows the record with those of the application's unit
  /// (systemd.journal-fields(7)).
  ///
  /// journald looks up more by OBJECT_PID=, which it allows to the system's daemon. The field is
  /// omitted for a leader that has exited: its pid may have been reused.
  fileprivate func objectFields(_ unit: SystemdUnit?) -> [(name: String, value: String)] {
    var fields: [(name: String, value: String)] = []
    if let leader, !tellsOfTheEnd { fields.append(("OBJECT_PID", "\(leader.pid)")) }
    if let unit {
      fields.append(("OBJECT_SYSTEMD_UNIT", unit.name))
      if let name = unit.userName { fields.append(("OBJECT_SYSTEMD_USER_UNIT", name)) }
    }
    return fields
  }

  private var tellsOfTheEnd: Bool {
    switch change {
    case .ended, .transition(from: _, to: .notRunning, cause: _): true
    case .transition, .registered, .taskBegan, .taskEnded, .taskExpired, .refused,
      .suspensionFailed, .signalFailed, .keepAliveSet, .keepAliveCalled, .socketManaged,
      .socketReleased, .socketsReady, .notificationScheduled, .notificationsCancelled,
      .notificationFired, .notificationChosen, .badgeSet, .relaunchPlanned, .memoryWarned,
      .memoryChosen, .resources:
      false
    }
  }

  fileprivate var fields: [(name: String, value: String)] {
    var fields = [
      (name: "TASKSCHEDD_APP", value: application.id.name),
      (name: "TASKSCHEDD_OWNER", value: "\(application.owner.uid)"),
    ]
    if let leader { fields.append(("TASKSCHEDD_PID", "\(leader.pid)")) }
    switch change {
    case .transition(let from, let to, let cause):
      fields.append(("TASKSCHEDD_FROM", from.rawValue))
      fields.append(("TASKSCHEDD_TO", to.rawValue))
      fields.append(("TASKSCHEDD_REASON", cause.name))
      if let activated = cause.activated { fields.append(("TASKSCHEDD_BY", activated.id.name)) }
    case .registered:
      break
    case .taskBegan(let task, let name, let remaining):
      fields += Self.fields(of: task, name)
      if let remaining {
        fields.append(("TASKSCHEDD_REMAINING_USEC", "\(remaining.microseconds)"))
      }
    case .taskEnded(let task, let name), .taskExpired(let task, let name):
      fields += Self.fields(of: task, name)
    case .ended(let end):
      fields.append(("TASKSCHEDD_REASON", end.reason.nameWithCode))
    case .refused(let refusal):
      fields.append(("TASKSCHEDD_REASON", refusal.name))
    case .suspensionFailed(let reason), .signalFailed(let reason):
      fields.append(("TASKSCHEDD_REASON", reason))
    case .socketManaged(let socket), .socketReleased(let socket):
      fields.append(("TASKSCHEDD_SOCKET", "\(socket.number)"))
    case .notificationScheduled(let id), .notificationFired(let id), .notificationChosen(let id):
      fields.append(("TASKSCHEDD_NOTIFICATION", "\(id.number)"))
    case .memoryChosen(let choice):
      fields.append(("TASKSCHEDD_DIRTY_BYTES", "\(choice.chosen.size.dirty)"))
      fields.append(("TASKSCHEDD_TOTAL_BYTES", "\(choice.chosen.size.total)"))
      fields.append(("TASKSCHEDD_AVAILABLE_BYTES", "\(choice.memory.available)"))
      fields.append(("TASKSCHEDD_CHOOSING_USEC", "\(choice.choosingTime.microseconds)"))
    case .keepAliveSet, .keepAliveCalled, .socketsReady, .notificationsCancelled, .badgeSet,
      .relaunchPlanned, .memoryWarned, .resources(.usedProcessor), .resources(.usedGPU),
      .resources(.throttled):
      break
    case .resources(.heldResource(let path)): fields.append(("TASKSCHEDD_PATH", path))
    case .resources(.listens(let listening)):
      fields += listening.addresses.map { ("TASKSCHEDD_ADDRESS", $0) }
    }
    return fields
  }

  private static func fields(
    of task: TaskID, _ name: String?
  ) -> [(name: String, value: String)] {
    let number = [(name: "TASKSCHEDD_TASK", value: "\(task.number)")]
    return number + (name.map { [(name: "TASKSCHEDD_TASK_NAME", value: $0)] } ?? [])
  }
}

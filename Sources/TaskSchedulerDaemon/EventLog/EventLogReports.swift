import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

extension EventLog {
  /// Begins an event log in a directory that contains no usable one. Writes a message to the
  /// daemon's log when the event log cannot store events, and when it can again.
  ///
  /// - Parameter directory: The directory; nil to store no events.
  convenience init(
    _ directory: EventLogDirectory?, boot: BootID, scheduler: Scheduler, at now: Instant, log: Log
  ) {
    self.init(
      directory, boot: boot, version: Version.current, scheduler: scheduler, at: now
    ) { log.write($0) }
  }
}

extension Log {
  /// Writes a message about the condition of the event log.
  func write(_ condition: EventLogCondition) {
    switch condition {
    case .behind(let problem):
      write(
        .error,
        "cannot write the event log: \(problem). Until this succeeds, the daemon refuses "
          + "registrations, background tasks and other requests that a crash would lose. If the "
          + "daemon crashes before then, all applications must register again",
        id: .eventLogBehind)
    case .whole: write(.notice, "the event log is complete again", id: .eventLogWhole)
    case .nextHasNoRoom(let problem):
      write(
        .error,
        "no space for the next event log: \(problem). The daemon refuses registrations, background "
          + "tasks and other requests that a crash could lose",
        id: .eventLogBehind)
    case .nextHasRoom:
      write(.notice, "there is space for the next event log again", id: .eventLogWhole)
    }
  }
}

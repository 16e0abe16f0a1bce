// The words from which the sentences of records are made.

extension ApplicationState {
  /// Returns the state as a predicate that follows the application's id.
  ///
  /// - Parameter cause: The cause of the transition to this state.
  func predicate(after cause: TransitionCause) -> String {
    switch self {
    // The processes continue to run.
    case .notRunning where cause == .schedulerStopped || cause == .released: "is no longer managed"
    case .notRunning: "is no longer running"
    case .inactive: "is inactive"
    case .active: "is active"
    case .background: "is in the background"
    case .suspended: "is suspended"
    }
  }
}

extension TransitionCause {
  /// Returns the reason for the transition as a clause that follows the new state.
  ///
  /// - Parameter activated: The application that was activated; nil if the reader may not see that
  ///   application.
  func clause(from state: ApplicationState, activated: ApplicationKey?) -> String {
    switch self {
    case .launch: ": taskschedd launched it"
    case .register: ": it opened its event stream"
    case .adopt: ": taskschedd began to manage its process"
    case .activate: ": a user or an operator brought it to the foreground"
    case .acknowledged: ": it acknowledged its callbacks"
    case .interruption: ": a user or an operator made it inactive"
    case .sendAway: ": a user or an operator sent it to the background"
    case .otherActivated:
      ": \(activated?.id.name ?? "another application") was activated at its seat"
    case .terminate: ": it is being terminated"
    case .noEntitlement: ": nothing entitles it to run any longer"
    case .event: state == .suspended ? ": an event woke it" : ": it must handle an event"
    case .suspensionLost: ": its suspended processes run again"
    case .leaderExited: ": its main process has exited"
    case .schedulerStopped: ": taskschedd has stopped"
    case .focused: ": its window has the focus"
    case .shown: ": its window is visible, without the focus"
    case .unfocused: ": its window lost the focus"
    case .hidden: ": its windows are hidden"
    case .closed: ": its windows were closed"
    case .locked: ": the screen was locked"
    case .unlocked: ": the screen was unlocked"
    case .audio: ": it plays or records audio"
    case .remoteControl: ": it must handle a media command"
    case .remoteRead: ": a program reads its media player"
    case .location: ": the location changed"
    case .call: ": a phone call began, or its hold began or ended"
    case .callEnded: ": a phone call ended"
    case .released: ": it must not be suspended"
    }
  }
}

extension LocationService {
  /// The service as an object that follows a verb.
  var words: String {
    switch self {
    case .updates: "continuous updates of the location"
    case .significantChanges: "monitoring significant changes of the location"
    case .regions: "monitoring regions"
    }
  }
}

extension LocationDenial {
  fileprivate var words: String {
    switch self {
    case .manifest: "the application's manifest does not name the location service"
    case .settings: "the settings deny the application the location"
    case .user: "the user or an operator denied the application the location"
    }
  }
}

extension LocationAuthorization {
  /// The authorization as a predicate that follows the application's id.
  var words: String {
    switch self {
    case .notDetermined:
      "may use the location only if the settings, the user or an operator allow it"
    case .denied: "may not use the location"
    case .authorized: "may use the location"
    }
  }
}

extension TaskID {
  /// Returns the task in words, such as `task 1 'upload'`.
  func words(_ name: String?) -> String {
    "task \(number)" + (name.map { " '\($0)'" } ?? "")
  }
}

extension TimeSpan {
  /// Returns the span in words, rounded down to milliseconds.
  package static func short(_ span: Duration) -> String {
    format(.milliseconds(span.microseconds / 1000))
  }
}

extension Duration {
  /// The duration in whole microseconds.
  var microseconds: Int {
    let (seconds, attoseconds) = components
    let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000)
    return overflow ? .max : Int(clamping: whole) + Int(attoseconds / 1_000_000_000_000)
  }
}

extension Refusal {
  /// The reason for the refusal, with the error's name.
  var words: String {
    switch self {
    case .invalidTransition(let from, let cause):
      "\(cause.name) is not possible while the application is \(from.rawValue) (\(name))"
    case .invalidState(let state), .cannotBeTold(let state):
      "the application is \(state.rawValue) (\(name))"
    case .alreadyRunning(let pid, let state):
      "the application already runs as process \(pid), and is \(state.rawValue) (\(name))"
    case .launchFailed(let reason): "the launch failed (\(name)): \(reason)"
    case .wrongApplication(let registered):
      "the process belongs to \(registered) (\(name))"
    case .unknownCallback(let id): "the application has no callback \(id.number) (\(name))"
    case .unknownTask(let id): "the application has no task \(id.number) (\(name))"
    case .modeNotDeclared(let mode):
      "the application does not have the background mode \(mode.rawValue) (\(name))"
    case .quotaExceeded(let quota, let limit):
      "the quota \(quota) (\(limit)) is reached (\(name))"
    case .keepAliveTooShort(let minimum):
      "the minimum keep-alive interval is \(TimeSpan.format(minimum)) (\(name))"
    case .unknownSocket(let id): "the application has no socket \(id.number) (\(name))"
    case .unknownNotification(let id):
      "the application has no notification \(id.number) (\(name))"
    case .notStored(let reason): "a change could not be stored (\(name)): \(reason)"
    case .unknownApplication: "the application is unknown (\(name))"
    case .terminating: "the application is being terminated (\(name))"
    case .notLaunchable: "the application has no manifest that describes its launch (\(name))"
    case .multitaskingNotSupported:
      "the application may not run in the background (\(name))"
    case .noEventStream: "the application has no event stream (\(name))"
    case .terminatedByOperator:
      "an operator or the user terminated the application (\(name))"
    case .nothingPlayed:
      "no application that can receive media commands has played audio (\(name))"
    case .locationUnavailable: "no source of locations is available (\(name))"
    case .locationDenied(let denial): "\(denial.words) (\(name))"
    case .unknownRegion(let id):
      "the application does not monitor a region '\(id.name)' (\(name))"
    }
  }
}

extension SocketReadiness {
  /// A description such as `socket 1 (data, hang-up)`.
  package var words: String {
    let words: [(SocketConditions, String)] = [
      (.data, "data"), (.urgentData, "urgent data"), (.hangUp, "hang-up"), (.error, "error"),
      (.unwatched, "the daemon cannot watch it any more"),
    ]
    let names = words.filter { conditions.contains($0.0) }.map(\.1)
    return "socket \(socket.number) (\(names.joined(separator: ", ")))"
  }
}

import TaskSchedulerCore

extension Record {
  /// One sentence for people, in the log and on a monitor. It begins with the application's id, and
  /// goes on with what that did or what became of it; where something of its own did something,
  /// after a colon.
  var message: String { message(activated: activated) }

  /// The application whose activation sent this one to the background.
  var activated: ApplicationKey? {
    if case .transition(_, _, let cause) = change { cause.activated } else { nil }
  }

  /// The sentence for the application's own user, whom it tells of no other user's application.
  var messageForOwner: String {
    message(activated: activated.flatMap { $0.owner == application.owner ? $0 : nil })
  }

  /// The sentence for people who may see `activated`.
  func message(activated: ApplicationKey?) -> String {
    let id = application.id.name
    switch change {
    case .transition(let from, let to, let cause):
      return "\(id) \(to.predicate)\(cause.clause(from: from, activated: activated))"
    case .registered: return "\(id) opened its event stream"
    case .taskBegan(let task, let name, let remaining):
      let time = remaining.map { "\(Self.span($0)) of background time left" } ?? "unlimited time"
      return "\(id) began background \(task.words(name)), with \(time)"
    case .taskEnded(let task, let name): return "\(id) ended background \(task.words(name))"
    case .taskExpired(let task, let name):
      return "\(id) was told that its background time is nearly up: background "
        + "\(task.words(name)) expires"
    case .ended(let end): return "\(id) \(end.sentence)"
    case .refused(let refusal): return "\(id): a request was refused because \(refusal.sentence)"
    case .suspensionFailed(let reason):
      return "\(id) is not suspended, and all of its processes run: \(reason)"
    case .signalFailed(let reason): return "\(id) could not be signalled: \(reason)"
    case .keepAliveSet(let interval?):
      return "\(id) set a keep-alive handler, to be called every \(TimeSpan.format(interval))"
    case .keepAliveSet: return "\(id) cleared its keep-alive handler"
    case .keepAliveCalled: return "\(id) was called for its keep-alive handler"
    case .socketManaged(let socket): return "\(id) handed over socket \(socket.number)"
    case .socketReleased(let socket): return "\(id): socket \(socket.number) is no longer watched"
    case .socketsReady(let ready):
      let sockets = ready.map { "socket \($0.socket.number) (\($0.conditions.words))" }
      return "\(id) was woken by \(sockets.joined(separator: ", "))"
    case .resources(let record): return "\(id) \(record.words)"
    case .memoryWarned(let isSimulated):
      return "\(id) was warned that memory is short\(isSimulated ? " (simulated)" : "")"
    case .memoryChosen(let choice): return "\(id) \(choice.sentence)"
    case .relaunchPlanned(let delay, let awaitsMemory):
      return "\(id) will be launched again in \(Self.span(delay))"
        + (awaitsMemory ? ", or when memory pressure is over if that is later" : "")
    case .notificationScheduled, .notificationsCancelled, .notificationFired, .notificationChosen,
      .badgeSet:
      return notificationMessage
    }
  }

  private var notificationMessage: String {
    let id = application.id.name
    switch change {
    case .notificationScheduled(let notification):
      return "\(id): notification \(notification.number) is scheduled"
    case .notificationsCancelled(let notifications):
      let numbers = notifications.map { "\($0.number)" }.joined(separator: ", ")
      return notifications.count == 1
        ? "\(id): notification \(numbers) is cancelled"
        : "\(id): notifications \(numbers) are cancelled"
    case .notificationFired(let notification):
      return "\(id): notification \(notification.number) fires"
    case .notificationChosen(let notification):
      return "\(id): the user has chosen notification \(notification.number)"
    case .badgeSet(let badge):
      return badge == 0 ? "\(id) cleared its badge" : "\(id) set its badge to \(badge)"
    case .transition, .registered, .taskBegan, .taskEnded, .taskExpired, .ended, .refused,
      .suspensionFailed, .signalFailed, .keepAliveSet, .keepAliveCalled, .socketManaged,
      .socketReleased, .socketsReady, .relaunchPlanned, .memoryWarned, .memoryChosen, .resources:
      preconditionFailure("nothing about notifications: \(change)")
    }
  }

  fileprivate static func span(_ duration: Duration) -> String {
    TimeSpan.format(duration.roundedToMilliseconds)
  }
}

extension ApplicationState {
  /// What an application that has come to it is.
  fileprivate var predicate: String {
    switch self {
    case .notRunning: "is not running any more"
    case .inactive: "is inactive"
    case .active: "is active"
    case .background: "is in the background"
    case .suspended: "is suspended"
    }
  }
}

extension TransitionCause {
  /// Why, to follow what became of it.
  ///
  /// - Parameter activated: the application that was activated, where it may be named.
  fileprivate func clause(from state: ApplicationState, activated: ApplicationKey?) -> String {
    switch self {
    case .launch: ": taskschedd launched it"
    case .register: ": it opened its event stream"
    case .adopt: ": its process was taken under management"
    case .activate: ": it was brought to the foreground"
    case .acknowledged: ": it acknowledged that it comes to the foreground"
    case .interruption: ": it was interrupted, or lost the focus"
    case .sendAway: ": it was sent away"
    case .otherActivated:
      ": \(activated?.id.name ?? "another application") was activated at its seat"
    case .terminate: ": it is to end"
    case .noEntitlement: ": nothing entitles it to run any longer"
    case .event: state == .suspended ? ": an event woke it" : ": an event is to be handled"
    case .suspensionLost: ": its processes, which were suspended, run"
    case .leaderExited: ": its leader has exited"
    case .schedulerStopped: ": taskschedd has stopped"
    }
  }
}

extension TaskID {
  /// `task 1 'upload'`.
  fileprivate func words(_ name: String?) -> String {
    "task \(number)" + (name.map { " '\($0)'" } ?? "")
  }
}

extension End {
  /// What became of the application, to follow its name.
  var sentence: String {
    guard let forced else { return predicate }
    return "\(predicate); \(forced.signal.name) had not ended it within "
      + "\(TimeSpan.format(forced.limit)), so SIGKILL did"
  }

  private var predicate: String {
    switch reason {
    case .exited(let code): "exited with code \(code)"
    case .unknown: "ended; how is not known: taskschedd did not run, or the kernel does not tell"
    case .crashed(let number): Self.ended(by: Signal(number))
    case .terminatedByOperator: "was ended by an operator\(late)"
    case .terminatedByUser: "was ended by the user\(late)"
    case .callbackTimeout, .keepAliveTimeout: "was killed: it did not acknowledge \(callback)"
    case .backgroundTimeExpired: "was killed: its background time was up\(outstanding)"
    case .memoryPressure: "was ended: the machine is short of memory"
    case .gpuInBackground: "was killed: it used a GPU in the background\(used)"
    case .sharedResourceHeld: "was killed: when it was suspended, it held a lock\(used)"
    case .excessiveUse: "was killed: it used too much CPU time in the background\(used)"
    case .optedOut: "was ended when it was sent away: it does not run in the background"
    case .schedulerStopped: "is no longer managed: taskschedd has stopped"
    }
  }

  /// Who sent a signal is not known: the kernel tells nobody but the process itself.
  private static func ended(by signal: Signal) -> String {
    signal.isFault ? "crashed with \(signal.name)" : "was ended by \(signal.name)"
  }

  private var late: String {
    guard case .callback(let kind) = detail else { return "" }
    return "; it did not acknowledge \(kind.rawValue) in time, and was killed"
  }

  private var callback: String {
    guard case .callback(let kind) = detail else { return "a callback in time" }
    return kind == .keepAlive ? "its keep-alive handler in time" : "\(kind.rawValue) in time"
  }

  private var outstanding: String {
    guard case .task(let task, let name, let count) = detail else { return "" }
    let others = count == 1 ? "" : count == 2 ? " and one more" : " and \(count - 1) more"
    return " with \(task.words(name))\(others) outstanding"
  }

  private var used: String {
    switch detail {
    case .processor(let time, let window, _):
      ", \(Record.span(time)) within \(Record.span(window))"
    case .gpu(let time): ", for \(Record.span(time))"
    case .sharedResource(let path): " on \(PrintableText.quoted(path, lengthMax: 4096))"
    case .callback, .task, .memory, nil: ""
    }
  }
}

extension EndReason {
  /// The reason's name, with what belongs to it.
  var nameWithCode: String {
    switch self {
    case .exited(let code): "exited(\(code))"
    case .crashed(let signal): "crashed(\(signal))"
    case .unknown, .terminatedByOperator, .terminatedByUser, .callbackTimeout,
      .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure, .gpuInBackground,
      .sharedResourceHeld, .excessiveUse, .optedOut, .schedulerStopped:
      name
    }
  }

  /// An end that the program did not choose and no person did is a warning.
  var level: LogLevel {
    switch self {
    case .crashed(let signal): Signal(signal).isFault ? .warning : .notice
    case .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure,
      .gpuInBackground, .sharedResourceHeld, .excessiveUse:
      .warning
    case .exited, .unknown, .terminatedByOperator, .terminatedByUser, .optedOut, .schedulerStopped:
      .notice
    }
  }
}

extension ListeningReport {
  /// For people, without the application's name.
  fileprivate var words: String {
    var words: [String] = []
    if count > 0 {
      let rest = count > addresses.count ? " and \(count - addresses.count) more addresses" : ""
      words.append("listens on \(addresses.joined(separator: ", "))\(rest) while it is suspended")
    }
    if !isComplete {
      words.append(
        "has more descriptors than were examined: locks on shared files and listening sockets may "
          + "have been missed")
    }
    return words.joined(separator: "; ")
  }
}

extension ResourceRecord {
  /// For people, without the application's name.
  fileprivate var words: String {
    switch self {
    case .usedProcessor(let used, let window):
      "used \(Record.span(used)) of CPU time within \(Record.span(window)) in the background"
    case .usedGPU(let used): "used a GPU for \(Record.span(used)) in the background"
    case .heldResource(let path):
      "holds a lock on \(PrintableText.quoted(path)) when it is suspended"
    case .throttled(let percent?): "is throttled to \(percent) % of one CPU"
    case .throttled(nil): "is throttled no more"
    case .listens(let listening): listening.words
    }
  }
}

extension Duration {
  /// For people.
  var roundedToMilliseconds: Duration { .milliseconds(microseconds / 1000) }
}

extension Refusal {
  /// What was wrong, with the error's name.
  fileprivate var sentence: String {
    switch self {
    case .invalidTransition(let from, let cause):
      "\(cause.name) is not possible while it is \(from.rawValue) (\(name))"
    case .invalidState(let state), .cannotBeTold(let state): "it is \(state.rawValue) (\(name))"
    case .alreadyRunning(let pid, let state):
      "it is \(state.rawValue), as process \(pid) (\(name))"
    case .launchFailed(let reason): "it could not be launched (\(name)): \(reason)"
    case .wrongApplication(let registered):
      "the process is of \(registered) (\(name))"
    case .unknownCallback(let id): "it has no callback \(id.number) (\(name))"
    case .unknownTask(let id): "it has no task \(id.number) (\(name))"
    case .modeNotDeclared(let mode): "its manifest does not declare \(mode.rawValue) (\(name))"
    case .quotaExceeded(let quota, let limit): "\(quota) is \(limit) (\(name))"
    case .keepAliveTooShort(let minimum):
      "a keep-alive interval is \(TimeSpan.format(minimum)) at least (\(name))"
    case .unknownSocket(let id): "it has no socket \(id.number) (\(name))"
    case .unknownNotification(let id): "it has no notification \(id.number) (\(name))"
    case .notStored(let reason): "a notification could not be stored (\(name)): \(reason)"
    case .unknownApplication: "it is not known (\(name))"
    case .terminating: "it is being ended (\(name))"
    case .notLaunchable: "no manifest says how to launch it (\(name))"
    case .multitaskingNotSupported: "it does not run in the background (\(name))"
    case .noEventStream: "it has no event stream (\(name))"
    case .terminatedByOperator: "an operator or the user ended it (\(name))"
    }
  }
}

extension SocketConditions {
  /// For people.
  fileprivate var words: String {
    let words: [(Self, String)] = [
      (.data, "data"), (.urgentData, "urgent data"), (.hangUp, "hang-up"), (.error, "error"),
      (.unwatched, "can be watched no longer"),
    ]
    return words.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

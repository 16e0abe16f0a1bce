import TaskSchedulerCore

extension Record {
  /// One sentence for people, for the log and for monitors. It begins with the application's id,
  /// followed by a predicate, or by a colon and another subject.
  var message: String { message(activated: activated) }

  /// The application whose activation sent this one to the background.
  var activated: ApplicationKey? {
    if case .transition(_, _, let cause) = change { cause.activated } else { nil }
  }

  /// The sentence for the application's owner, which names no application of another user.
  var messageForOwner: String {
    message(activated: activated.flatMap { $0.owner == application.owner ? $0 : nil })
  }

  /// Returns the sentence for readers who may see the application `activated`.
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
      return "\(id): its background time is nearly used up, background \(task.words(name)) expires"
    case .ended(let end): return "\(id) \(end.sentence)"
    case .refused(let refusal): return "\(id): a request was refused because \(refusal.sentence)"
    case .suspensionFailed(let reason):
      return "\(id) could not be suspended and keeps running: \(reason)"
    case .signalFailed(let reason): return "\(id) could not be signalled: \(reason)"
    case .keepAliveSet(let interval?):
      return "\(id) set a keep-alive handler with an interval of \(TimeSpan.format(interval))"
    case .keepAliveSet: return "\(id) cleared its keep-alive handler"
    case .keepAliveCalled: return "\(id): its keep-alive handler is called"
    case .socketManaged(let socket): return "\(id) handed over socket \(socket.number)"
    case .socketReleased(let socket): return "\(id): socket \(socket.number) is no longer watched"
    case .socketsReady(let ready):
      let sockets = ready.map { "socket \($0.socket.number) (\($0.conditions.words))" }
      return "\(id) was woken by \(sockets.joined(separator: ", "))"
    case .resources(let record): return "\(id) \(record.words)"
    case .memoryWarned(let isSimulated):
      return "\(id) was sent a memory warning\(isSimulated ? " (simulated)" : "")"
    case .memoryChosen(let choice): return "\(id) \(choice.sentence)"
    case .relaunchPlanned(let delay, let awaitsMemory):
      return "\(id) will be relaunched in \(Self.span(delay))"
        + (awaitsMemory ? ", or when memory pressure ends if that is later" : "")
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
      return "\(id): the user chose notification \(notification.number)"
    case .badgeSet(let badge):
      return badge == 0 ? "\(id) cleared its badge" : "\(id) set its badge to \(badge)"
    case .transition, .registered, .taskBegan, .taskEnded, .taskExpired, .ended, .refused,
      .suspensionFailed, .signalFailed, .keepAliveSet, .keepAliveCalled, .socketManaged,
      .socketReleased, .socketsReady, .relaunchPlanned, .memoryWarned, .memoryChosen, .resources:
      preconditionFailure("not a record about notifications: \(change)")
    }
  }

  fileprivate static func span(_ duration: Duration) -> String {
    TimeSpan.format(duration.roundedToMilliseconds)
  }
}

extension ApplicationState {
  /// The state in words that follow the application's id.
  fileprivate var predicate: String {
    switch self {
    case .notRunning: "is no longer running"
    case .inactive: "is inactive"
    case .active: "is active"
    case .background: "is in the background"
    case .suspended: "is suspended"
    }
  }
}

extension TransitionCause {
  /// Returns the reason of the transition, in words that follow the new state.
  ///
  /// - Parameter activated: The application that was activated, if the reader may see it.
  fileprivate func clause(from state: ApplicationState, activated: ApplicationKey?) -> String {
    switch self {
    case .launch: ": taskschedd launched it"
    case .register: ": it opened its event stream"
    case .adopt: ": taskschedd began to manage its process"
    case .activate: ": it was brought to the foreground"
    case .acknowledged: ": it acknowledged that it enters the foreground"
    case .interruption: ": it was interrupted, or lost the focus"
    case .sendAway: ": it was sent to the background"
    case .otherActivated:
      ": \(activated?.id.name ?? "another application") was activated at its seat"
    case .terminate: ": it is being terminated"
    case .noEntitlement: ": nothing entitles it to run any longer"
    case .event: state == .suspended ? ": an event woke it" : ": it must handle an event"
    case .suspensionLost: ": its processes were suspended but run again"
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
  /// The end in words that follow the application's name.
  var sentence: String {
    guard let forced else { return predicate }
    return "\(predicate); it did not exit within \(TimeSpan.format(forced.limit)) of "
      + "\(forced.signal.name), so SIGKILL was sent"
  }

  private var predicate: String {
    switch reason {
    case .exited(let code): "exited with code \(code)"
    case .unknown:
      "ended for an unknown reason: taskschedd was not running, or the kernel does not report it"
    case .crashed(let number): Self.ended(by: Signal(number))
    case .terminatedByOperator: "was terminated by an operator\(late)"
    case .terminatedByUser: "was terminated by the user\(late)"
    case .callbackTimeout, .keepAliveTimeout: "was killed: it did not acknowledge \(callback)"
    case .backgroundTimeExpired: "was killed: its background time expired\(outstanding)"
    case .memoryPressure: "was terminated: the machine is short of memory"
    case .gpuInBackground: "was killed: it used a GPU in the background\(used)"
    case .sharedResourceHeld: "was killed: it held a lock\(used) when it was suspended"
    case .excessiveUse: "was killed: it used too much CPU time in the background\(used)"
    case .optedOut: "was terminated when sent to the background, where it may not run"
    case .schedulerStopped: "is no longer managed: taskschedd has stopped"
    }
  }

  /// Returns the end by a signal. The kernel reports the sender to the process only.
  private static func ended(by signal: Signal) -> String {
    signal.isFault ? "crashed with \(signal.name)" : "was terminated by \(signal.name)"
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
  /// The reason's name with its exit code or signal.
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

  /// The level of the record: a warning for an end that neither the program nor a person chose.
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
  /// The report in words that follow the application's name.
  fileprivate var words: String {
    var words: [String] = []
    if count > 0 {
      let rest = count > addresses.count ? " and \(count - addresses.count) more addresses" : ""
      words.append("listens on \(addresses.joined(separator: ", "))\(rest) while it is suspended")
    }
    if !isComplete {
      words.append(
        "has more descriptors than were examined; locks on shared files and listening sockets may "
          + "have been missed")
    }
    return words.joined(separator: "; ")
  }
}

extension ResourceRecord {
  /// The finding in words that follow the application's name.
  fileprivate var words: String {
    switch self {
    case .usedProcessor(let used, let window):
      "used \(Record.span(used)) of CPU time within \(Record.span(window)) in the background"
    case .usedGPU(let used): "used a GPU for \(Record.span(used)) in the background"
    case .heldResource(let path):
      "held a lock on \(PrintableText.quoted(path)) when it was suspended"
    case .throttled(let percent?): "is throttled to \(percent) % of one CPU"
    case .throttled(nil): "is no longer throttled"
    case .listens(let listening): listening.words
    }
  }
}

extension Duration {
  /// The duration without its microseconds, for texts.
  var roundedToMilliseconds: Duration { .milliseconds(microseconds / 1000) }
}

extension Refusal {
  /// The reason for the refusal, with the error's name.
  fileprivate var sentence: String {
    switch self {
    case .invalidTransition(let from, let cause):
      "\(cause.name) is not possible while it is \(from.rawValue) (\(name))"
    case .invalidState(let state), .cannotBeTold(let state): "it is \(state.rawValue) (\(name))"
    case .alreadyRunning(let pid, let state):
      "it is \(state.rawValue), as process \(pid) (\(name))"
    case .launchFailed(let reason): "it could not be launched (\(name)): \(reason)"
    case .wrongApplication(let registered):
      "the process belongs to \(registered) (\(name))"
    case .unknownCallback(let id): "it has no callback \(id.number) (\(name))"
    case .unknownTask(let id): "it has no task \(id.number) (\(name))"
    case .modeNotDeclared(let mode): "its manifest does not declare \(mode.rawValue) (\(name))"
    case .quotaExceeded(let quota, let limit): "\(quota) is \(limit) (\(name))"
    case .keepAliveTooShort(let minimum):
      "the minimum keep-alive interval is \(TimeSpan.format(minimum)) (\(name))"
    case .unknownSocket(let id): "it has no socket \(id.number) (\(name))"
    case .unknownNotification(let id): "it has no notification \(id.number) (\(name))"
    case .notStored(let reason): "a notification could not be stored (\(name)): \(reason)"
    case .unknownApplication: "the application is unknown (\(name))"
    case .terminating: "it is being terminated (\(name))"
    case .notLaunchable: "it has no manifest to launch it by (\(name))"
    case .multitaskingNotSupported: "it may not run in the background (\(name))"
    case .noEventStream: "it has no event stream (\(name))"
    case .terminatedByOperator: "an operator or the user terminated it (\(name))"
    }
  }
}

extension SocketConditions {
  /// The conditions in words.
  fileprivate var words: String {
    let words: [(Self, String)] = [
      (.data, "data"), (.urgentData, "urgent data"), (.hangUp, "hang-up"), (.error, "error"),
      (.unwatched, "can no longer be watched"),
    ]
    return words.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

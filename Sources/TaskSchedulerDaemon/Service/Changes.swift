import TaskSchedulerCore
import TaskSchedulerWire

extension ControlInterface.Change {
  /// What the monitors are told of a record.
  ///
  /// - Parameter isVisible: whether the monitor may see this user's applications.
  init(_ record: Record, at now: Instant, isVisible: (UserID) -> Bool = { _ in true }) {
    let activated = record.activated.flatMap { isVisible($0.owner) ? $0 : nil }
    self.init(
      kind: .transition, atUSec: now.microseconds, application: record.application.id.name,
      owner: Int(record.application.owner.uid), pid: record.leader.map { Int($0.pid) },
      by: activated?.id.name, message: record.message(activated: activated))
    switch record.change {
    case .transition(let from, let to, let cause):
      self.from = .init(from)
      self.to = .init(to)
      self.cause = cause.name
    case .registered:
      kind = .registered
    case .taskBegan(let task, let name, _):
      set(.taskBegan, task, name)
    case .taskEnded(let task, let name):
      set(.taskEnded, task, name)
    case .taskExpired(let task, let name):
      set(.taskExpired, task, name)
    case .ended(let end):
      kind = .ended
      reason = end.reason.name
    case .refused(let refusal):
      kind = .refused
      reason = refusal.name
    case .suspensionFailed(let reason):
      kind = .suspensionFailed
      self.reason = reason
    case .signalFailed(let reason):
      kind = .signalFailed
      self.reason = reason
    case .keepAliveSet: kind = .keepAliveSet
    case .keepAliveCalled: kind = .keepAliveCalled
    case .socketManaged: kind = .socketManaged
    case .socketReleased: kind = .socketReleased
    case .socketsReady: kind = .socketsReady
    case .notificationScheduled: kind = .notificationScheduled
    case .notificationsCancelled: kind = .notificationsCancelled
    case .notificationFired: kind = .notificationFired
    case .notificationChosen: kind = .notificationChosen
    case .badgeSet: kind = .badgeSet
    case .relaunchPlanned: kind = .relaunchPlanned
    case .memoryWarned: kind = .memoryWarned
    case .memoryChosen: kind = .memoryChosen
    case .resources: kind = .resources
    }
  }

  private mutating func set(
    _ kind: ControlInterface.ChangeKind, _ task: TaskID, _ name: String?
  ) {
    self.kind = kind
    self.task = Int(clamping: task.number)
    taskName = name
  }
}

extension Record {
  /// The application whose activation sent this one to the background.
  var activated: ApplicationKey? {
    if case .transition(_, _, let cause) = change { cause.activated } else { nil }
  }

  /// One line for people, in the log.
  var message: String { message(activated: activated) }

  /// One line for people who may see `activated`.
  func message(activated: ApplicationKey?) -> String {
    let id = application.id.name
    switch change {
    case .transition(let from, let to, let cause):
      let by = activated.map { " by \($0.id.name)" } ?? ""
      return "\(id): \(from.rawValue) -> \(to.rawValue) (\(cause.name)\(by))"
    case .registered:
      return "\(id): opened its event stream"
    case .taskBegan(let task, let name, let remaining):
      let time = remaining.map { TimeSpan.format($0.roundedToMilliseconds) } ?? "unlimited"
      let named = "\(task.number)\(Self.quoted(name))"
      return "\(id): background task \(named) began, time remaining \(time)"
    case .taskEnded(let task, let name):
      return "\(id): background task \(task.number)\(Self.quoted(name)) ended"
    case .taskExpired(let task, let name):
      let named = "\(task.number)\(Self.quoted(name))"
      return "\(id): background task \(named) expires: its handler was called"
    case .ended(let end):
      return "\(id): ended, \(end.sentence)"
    case .refused(let refusal):
      return "\(id): refused, \(refusal.sentence)"
    case .suspensionFailed(let reason):
      return "\(id): is not suspended, all of it runs: \(reason)"
    case .signalFailed(let reason):
      return "\(id): could not be signalled: \(reason)"
    case .keepAliveSet(let interval?):
      return "\(id): keep-alive every \(TimeSpan.format(interval)) at most"
    case .keepAliveSet:
      return "\(id): no keep-alive any more"
    case .keepAliveCalled:
      return "\(id): its keep-alive handler is called"
    case .socketManaged(let socket):
      return "\(id): socket \(socket.number) is managed"
    case .socketReleased(let socket):
      return "\(id): socket \(socket.number) is managed no more"
    case .socketsReady(let ready):
      let sockets = ready.map { "socket \($0.socket.number) (\($0.conditions.words))" }
      return "\(id): woken by \(sockets.joined(separator: ", "))"
    case .notificationScheduled(let notification):
      return "\(id): notification \(notification.number) is scheduled"
    case .notificationsCancelled(let notifications):
      let numbers = notifications.map { "\($0.number)" }.joined(separator: ", ")
      return "\(id): notification \(numbers) is cancelled"
    case .notificationFired(let notification):
      return "\(id): notification \(notification.number) fires"
    case .notificationChosen(let notification):
      return "\(id): the user has chosen notification \(notification.number)"
    case .badgeSet(let badge):
      return badge == 0 ? "\(id): no badge any more" : "\(id): its badge is \(badge)"
    case .relaunchPlanned(let delay, let awaitsMemory):
      let wait = TimeSpan.format(delay.roundedToMilliseconds)
      return "\(id): will be launched again in \(wait)"
        + (awaitsMemory ? ", or when memory pressure is over if that is later" : "")
    case .memoryWarned(let isSimulated):
      return "\(id): was warned that memory is short\(isSimulated ? " (simulated)" : "")"
    case .memoryChosen(let choice): return "\(id): \(choice.sentence)"
    case .resources(let record):
      return "\(id): \(record.words)"
    }
  }

  private static func quoted(_ name: String?) -> String { name.map { " '\($0)'" } ?? "" }
}

extension ResourceRecord {
  /// For people, without the application's name.
  fileprivate var words: String {
    switch self {
    case .usedProcessor(let used, let window):
      "used \(Self.span(used)) of processors within \(Self.span(window)) in the background"
    case .usedGPU(let used): "used a GPU for \(Self.span(used)) in the background"
    case .heldResource(let path): "holds a lock on \(QuotedText.of(path)) when it is suspended"
    case .throttled(let percent?): "is throttled to \(percent) % of one processor"
    case .throttled(nil): "is throttled no more"
    case .listens(let addresses):
      "listens on \(addresses.joined(separator: ", ")) while it is suspended"
    }
  }

  private static func span(_ duration: Duration) -> String {
    TimeSpan.format(duration.roundedToMilliseconds)
  }
}

extension Duration {
  /// For people.
  var roundedToMilliseconds: Duration { .milliseconds(microseconds / 1000) }
}

extension End {
  /// The reason, and the callback where the application was killed for not acknowledging it.
  fileprivate var sentence: String {
    guard case .callback(let kind) = detail else { return reason.sentence }
    return "\(reason.sentence): it did not acknowledge \(kind.rawValue) in time and was killed"
  }
}

extension EndReason {
  /// The reason's name, with what belongs to it.
  var sentence: String {
    switch self {
    case .exited(let code): "exited(\(code))"
    case .crashed(let signal): "crashed(\(signal))"
    case .unknown, .terminatedByOperator, .terminatedByUser, .callbackTimeout,
      .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure, .gpuInBackground,
      .sharedResourceHeld, .excessiveUse, .optedOut, .schedulerStopped:
      name
    }
  }
}

extension Refusal {
  /// The error's name, with what belongs to it.
  fileprivate var sentence: String {
    switch self {
    case .invalidTransition(let from, let cause):
      "\(name): no \(cause.name) from \(from.rawValue)"
    case .invalidState(let state), .cannotBeTold(let state): "\(name): it is \(state.rawValue)"
    case .alreadyRunning(let pid, let state): "\(name): \(state.rawValue), as process \(pid)"
    case .launchFailed(let reason): "\(name): \(reason)"
    case .wrongApplication(let registered): "\(name): the process is of \(registered)"
    case .unknownCallback(let id): "\(name): \(id.number)"
    case .unknownTask(let id): "\(name): \(id.number)"
    case .modeNotDeclared(let mode): "\(name): \(mode.rawValue)"
    case .quotaExceeded(let quota, let limit): "\(name): \(quota) = \(limit)"
    case .keepAliveTooShort(let minimum): "\(name): \(TimeSpan.format(minimum)) at least"
    case .unknownSocket(let id): "\(name): \(id.number)"
    case .unknownNotification(let id): "\(name): \(id.number)"
    case .notStored(let reason): "\(name): \(reason)"
    case .unknownApplication, .terminating, .notLaunchable, .multitaskingNotSupported,
      .noEventStream, .terminatedByOperator:
      name
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

// The words of records: sentences for readers, and fields for programs.

extension ApplicationState {
  /// The state as a predicate that follows the application's id.
  var predicate: String {
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
  /// Returns the reason for the transition as a clause that follows the new state.
  ///
  /// - Parameter activated: The application that was activated; nil if the reader may not see that
  ///   application.
  func clause(from state: ApplicationState, activated: ApplicationKey?) -> String {
    switch self {
    case .launch: ": taskschedd launched it"
    case .register: ": it opened its event stream"
    case .adopt: ": taskschedd began to manage its process"
    case .activate: ": it was brought to the foreground"
    case .acknowledged: ": it acknowledged its callbacks"
    case .interruption: ": it was interrupted, or lost the focus"
    case .sendAway: ": it was sent to the background"
    case .otherActivated:
      ": \(activated?.id.name ?? "another application") was activated at its seat"
    case .terminate: ": it is being terminated"
    case .noEntitlement: ": nothing entitles it to run any longer"
    case .event: state == .suspended ? ": an event woke it" : ": it must handle an event"
    case .suspensionLost: ": its processes were suspended but run again"
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
    case .call: ": a phone call began or was put on hold"
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
    case .notDetermined: "will ask whether it may use the location"
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

extension End {
  var recordDescription: RecordDescription {
    .init(
      .ended, .predicate(words),
      ["reason": .text(reason.name), "code": reason.code, "signal": reason.signal],
      isIndispensable: reason.isOfDaemon)
  }

  /// The end as a predicate that follows the application's name.
  private var words: String {
    guard let forced else { return predicate }
    return "\(predicate); it did not exit within \(TimeSpan.format(forced.limit)) of "
      + "\(forced.signal.name), so SIGKILL was sent"
  }

  private var predicate: String {
    switch reason {
    case .exited(let code): "exited with code \(code)"
    case .unknown:
      "ended for an unknown reason: taskschedd was not running, or the kernel did not report the "
        + "reason"
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
    case .released: "is no longer managed\(why)"
    }
  }

  /// Returns the predicate for an end by a signal. The predicate does not name the sender, because
  /// the kernel reports the sender only to the process itself.
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
      ", \(TimeSpan.short(time)) within \(TimeSpan.short(window))"
    case .gpu(let time): ", for \(TimeSpan.short(time))"
    case .sharedResource(let path): " on \(PrintableText.quoted(path, lengthMax: 4096))"
    case .callback, .task, .memory, .released, nil: ""
    }
  }

  private var why: String {
    guard case .released(let reason) = detail else { return "" }
    return ": \(PrintableText.of(reason))"
  }
}

extension EndReason {
  fileprivate var code: RecordValue? {
    if case .exited(let code) = self { .number(UInt64(clamping: code)) } else { nil }
  }

  fileprivate var signal: RecordValue? {
    if case .crashed(let number) = self { .text(Signal(number).name) } else { nil }
  }

  /// Whether the daemon ended the application, by itself or by the order of a user or an operator.
  fileprivate var isOfDaemon: Bool {
    switch self {
    case .exited, .crashed, .unknown: false
    case .terminatedByOperator, .terminatedByUser, .callbackTimeout, .backgroundTimeExpired,
      .keepAliveTimeout, .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse,
      .optedOut, .schedulerStopped, .released:
      true
    }
  }

  /// The level of the record: a warning for an end that neither the application nor a user or an
  /// operator chose.
  var level: LogLevel {
    switch self {
    case .crashed(let signal): Signal(signal).isFault ? .warning : .notice
    case .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout, .memoryPressure,
      .gpuInBackground, .sharedResourceHeld, .excessiveUse:
      .warning
    case .exited, .unknown, .terminatedByOperator, .terminatedByUser, .optedOut, .schedulerStopped,
      .released:
      .notice
    }
  }
}

extension ListeningReport {
  /// The report as a predicate that follows the application's name.
  fileprivate var words: String {
    var words: [String] = []
    if count > 0 {
      let rest = count > addresses.count ? " and \(count - addresses.count) more addresses" : ""
      words.append("listens on \(addresses.joined(separator: ", "))\(rest) while it is suspended")
    }
    if !isComplete {
      words.append(
        "has more descriptors than the daemon examines, so the daemon may have missed locks on "
          + "shared files and listening sockets")
    }
    return words.joined(separator: "; ")
  }
}

extension ResourceRecord {
  /// The level of the record.
  var level: LogLevel {
    switch self {
    case .usedProcessor, .usedGPU, .heldResource: .warning
    case .throttled, .listens: .notice
    }
  }

  var recordDescription: RecordDescription {
    switch self {
    case .usedProcessor(let used, let window):
      .ruleBroken(
        "used \(TimeSpan.short(used)) of CPU time within \(TimeSpan.short(window)) "
          + "in the background")
    case .usedGPU(let used):
      .ruleBroken("used a GPU for \(TimeSpan.short(used)) in the background")
    case .heldResource(let path):
      .ruleBroken("held a lock on \(PrintableText.quoted(path)) when it was suspended", path: path)
    case .throttled(let percent):
      .init(
        .throttled,
        .predicate(
          percent.map { "is throttled to \($0) % of one CPU" } ?? "is no longer throttled"),
        isIndispensable: true)
    // The record is not indispensable: an application can cause any number of these records, by
    // listening on new sockets.
    case .listens(let listening):
      .init(
        .listening, .predicate(listening.words), ["address": .texts(listening.addresses)])
    }
  }
}

extension RecordDescription {
  fileprivate static func ruleBroken(
    _ text: @escaping @autoclosure () -> String, path: String? = nil
  ) -> Self {
    .init(
      .ruleBroken, .predicate(text()), ["path": path.map { .text($0) }],
      isIndispensable: true)
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
    case .modeNotDeclared(let mode): "the manifest does not declare \(mode.rawValue) (\(name))"
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
      "no application that receives remote control has played audio (\(name))"
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

extension MemoryChoice {
  var recordDescription: RecordDescription {
    .init(
      .memoryChosen, .predicate(words),
      [
        "dirty": .bytes(chosen.size.dirty), "total": .bytes(chosen.size.total),
        "available": .bytes(memory.available), "choosing": .duration(choosingTime),
      ], isIndispensable: true)
  }

  /// The reason why the scheduler chose this application. Monitors of the application's owner show
  /// the sentence, so it names only applications of that owner.
  private var words: String {
    let order = chosen.state == .suspended ? "suspended" : "background"
    let own = runnersUp.filter { $0.application.owner == chosen.application.owner }
    let rest =
      own.isEmpty
      ? ""
      : ", before "
        + own.map { "\($0.application.id.name) (\($0.size.words))" }
        .joined(separator: ", ")
    let place =
      classCount == 1
      ? "the only \(order) application" : "the most of \(classCount) \(order) applications"
    let time =
      choosingTime == .zero
      ? "the memory sizes were already known"
      : "the choice took \(TimeSpan.short(choosingTime))"
    return "was chosen for termination to free memory: \(chosen.size.words) dirty, "
      + "\(place)\(rest); "
      + "\(memory.percent)% of the machine's memory is available; \(time)"
  }
}

extension MemorySize {
  /// The dirty size: `120 MiB` or, if the size is an estimate, `about 120 MiB`.
  fileprivate var words: String { (isEstimate ? "about " : "") + "\(dirty >> 20) MiB" }
}

extension MemoryReading {
  /// The available memory as a percentage of the machine's memory; 100 if it is unknown.
  fileprivate var percent: Int {
    total == 0 ? 100 : Int(Double(available) / Double(total) * 100)
  }
}

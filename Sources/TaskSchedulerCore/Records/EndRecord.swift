// The records of ends: their sentences, fields and levels.

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

  /// Whether the daemon caused the end, by itself or by the order of a user or an operator.
  fileprivate var isOfDaemon: Bool {
    switch self {
    case .exited, .crashed, .unknown: false
    case .terminatedByOperator, .terminatedByUser, .callbackTimeout, .backgroundTimeExpired,
      .keepAliveTimeout, .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse,
      .optedOut, .schedulerStopped, .released:
      true
    }
  }

  /// The level of the record: a warning if a fault ended the application, or if the daemon ended it
  /// because of a broken rule or a lack of memory.
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

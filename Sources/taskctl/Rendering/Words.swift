import TaskSchedulerCore
import TaskSchedulerWire

extension ControlInterface.Entitlement {
  /// What it is called in a sentence.
  var words: String {
    switch self {
    case .backgroundTask: "a background task"
    case .callback: "an unacknowledged callback"
    case .audio: "audio that plays"
    case .location: "location updates"
    case .event: "an event being handled"
    }
  }
}

extension ControlInterface.LaunchReason {
  /// What started the instance, to follow "started".
  var words: String {
    switch self {
    case .user: "by the user or itself"
    case .operator: "by an operator"
    case .boot: "when the daemon started"
    case .relaunch: "again after it had ended"
    case .location: "for a change of location"
    case .notification: "for a notification"
    }
  }
}

extension ControlInterface.EndKind {
  /// True where the daemon ended it, rather than it itself or a person.
  var isByDaemon: Bool {
    switch self {
    case .exited, .crashed, .unknown: false
    case .terminatedByOperator, .terminatedByUser, .callbackTimeout, .backgroundTimeExpired,
      .keepAliveTimeout, .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse,
      .optedOut, .schedulerStopped:
      true
    }
  }

  /// One clause that follows the application's name: `was ended by an operator`.
  func words(code: Int? = nil, signal: Int? = nil) -> String {
    switch self {
    case .exited: code.map { "exited with code \($0)" } ?? "exited"
    case .crashed:
      signal.map { Signal(Int32(clamping: $0)) }.map {
        $0.isFault ? "crashed with \($0.name)" : "was ended by \($0.name)"
      } ?? "was ended by a signal"
    case .unknown: "ended; how is not known: taskschedd did not run, or the kernel does not tell"
    case .terminatedByOperator: "was ended by an operator"
    case .terminatedByUser: "was ended by the user"
    case .callbackTimeout: "was killed because it did not acknowledge a callback in time"
    case .backgroundTimeExpired:
      "was killed because its background time was used up with a background task outstanding"
    case .keepAliveTimeout:
      "was killed because its keep-alive handler was not done in time"
    case .memoryPressure: "was ended because the machine was short of memory"
    case .gpuInBackground: "was killed because it used the GPU in the background"
    case .sharedResourceHeld:
      "was killed because it held a lock on shared data when it was to be suspended"
    case .excessiveUse: "was killed because it used too much CPU time in the background"
    case .optedOut:
      "was ended when it was sent away: it, or this machine, does not run in the background"
    case .schedulerStopped: "was running when taskschedd stopped, and ran on unmanaged"
    }
  }
}

extension ControlInterface.End {
  /// `exited with code 3`, `was killed because …`.
  var words: String { reason.words(code: code, signal: signal) }

  /// What exactly brought it about, where there is more to say: `it did not acknowledge …`.
  var detail: String? {
    let details = [shortcoming, force].compactMap { $0 }
    return details.isEmpty ? nil : details.joined(separator: " ")
  }

  /// That what had asked it to end did not.
  private var force: String? {
    guard let stopSignal, let stopLimitUSec else { return nil }
    return "It had not ended within \(TimeSpan.text(usec: stopLimitUSec)) of "
      + "\(PrintableText.of(stopSignal)), and was sent SIGKILL."
  }

  private var shortcoming: String? {
    if let callback {
      return "It did not acknowledge \(callback.rawValue) in time"
        + (reason == .terminatedByOperator || reason == .terminatedByUser
          ? ", and was killed." : ".")
    }
    guard let tasks else { return nil }
    let first = task.map { taskWords($0, name: taskName) } ?? "a background task"
    return tasks > 1
      ? "\(tasks) background tasks were outstanding, the first of them \(first)."
      : "Outstanding was \(first)."
  }
}

/// `background task 3 'upload'`.
func taskWords(_ id: Int, name: String?) -> String {
  "background task \(id)" + (name.map { " '\(PrintableText.of($0))'" } ?? "")
}

import TaskSchedulerCore
import TaskSchedulerWire

extension ControlInterface.Entitlement {
  /// The name of the entitlement in a sentence.
  var words: String {
    switch self {
    case .backgroundTask: "a background task"
    case .callback: "an unacknowledged callback"
    case .audio: "audio that it plays or records"
    case .location: "location updates"
    case .event: "an event that it handles or has just handled"
    }
  }
}

extension ControlInterface.AudioUse {
  /// What the application does with audio, in a word.
  var words: String {
    switch self {
    case .playing: "plays"
    case .recording: "records"
    case .muted: "muted"
    case .ducked: "ducked"
    case .interrupted: "interrupted"
    case .calling: "in a call"
    case .onHold: "on hold"
    }
  }
}

extension ControlInterface.LocationService {
  /// The name of the service in a list.
  var words: String {
    switch self {
    case .updates: "updates"
    case .significantChanges: "significant changes"
    case .regions: "regions"
    }
  }
}

extension ControlInterface.LocationAuthorization {
  /// The authorization, in words that follow "is".
  var words: String {
    switch self {
    case .notDetermined: "not determined"
    case .denied: "denied"
    case .authorized: "authorized"
    }
  }
}

extension ControlInterface.LocationAccuracy {
  /// The accuracy as a distance; `best` for the best one.
  var words: String {
    switch self {
    case .best: "best"
    case .tenMeters: "10 m"
    case .hundredMeters: "100 m"
    case .kilometer: "1 km"
    case .threeKilometers: "3 km"
    }
  }
}

extension ControlInterface.LaunchReason {
  /// The cause of the launch, in words that follow "started".
  var words: String {
    switch self {
    case .user: "by the user or without taskschedd"
    case .operator: "by an operator"
    case .boot: "when the daemon started"
    case .relaunch: "by a relaunch"
    case .location: "for a change of location"
    case .notification: "for a notification"
    case .call: "for an incoming call"
    }
  }
}

extension ControlInterface.EndKind {
  /// Whether the daemon terminated the application, on its own or by request, or stopped managing
  /// it.
  var isByDaemon: Bool {
    switch self {
    case .exited, .crashed, .unknown: false
    case .terminatedByOperator, .terminatedByUser, .callbackTimeout, .backgroundTimeExpired,
      .keepAliveTimeout, .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse,
      .optedOut, .schedulerStopped, .released:
      true
    }
  }

  /// Returns a clause that follows the application's name: `was terminated by an operator`.
  func words(code: Int? = nil, signal: Int? = nil) -> String {
    switch self {
    case .exited: code.map { "exited with code \($0)" } ?? "exited"
    case .crashed:
      signal.map { Signal(Int32(clamping: $0)) }.map {
        $0.isFault ? "crashed with \($0.name)" : "was terminated by \($0.name)"
      } ?? "was terminated by a signal"
    case .unknown:
      "ended for an unknown reason: taskschedd was not running, or the kernel did not report the "
        + "reason"
    case .terminatedByOperator: "was terminated by an operator"
    case .terminatedByUser: "was terminated by the user"
    case .callbackTimeout: "was killed because it did not acknowledge a callback in time"
    case .backgroundTimeExpired:
      "was killed because a background task was outstanding when its background time expired"
    case .keepAliveTimeout:
      "was killed because its keep-alive handler did not return in time"
    case .memoryPressure: "was terminated because the machine was short of memory"
    case .gpuInBackground: "was killed because it used the GPU in the background"
    case .sharedResourceHeld:
      "was killed because it held a lock on shared data when it was suspended"
    case .excessiveUse: "was killed because it used too much CPU time in the background"
    case .optedOut:
      "was terminated when it was sent to the background, where it may not run"
    case .schedulerStopped: "was running when taskschedd stopped, and kept running unmanaged"
    case .released:
      "was released because it must not be suspended, and kept running unmanaged"
    }
  }

  /// The cause of a termination in progress, in words that follow "because".
  var causeWords: String {
    switch self {
    case .exited: "it exited"
    case .crashed: "it crashed"
    case .unknown: "it ended"
    case .terminatedByOperator: "an operator requested the termination"
    case .terminatedByUser: "the user requested the termination"
    case .callbackTimeout: "it did not acknowledge a callback in time"
    case .backgroundTimeExpired:
      "a background task was outstanding when its background time expired"
    case .keepAliveTimeout: "its keep-alive handler did not return in time"
    case .memoryPressure: "the machine is short of memory"
    case .gpuInBackground: "it used the GPU in the background"
    case .sharedResourceHeld: "it held a lock on shared data when the daemon suspended it"
    case .excessiveUse: "it used too much CPU time in the background"
    case .optedOut: "it was sent to the background, where it may not run"
    case .schedulerStopped: "taskschedd is stopping"
    case .released: "it must not be suspended"
    }
  }
}

extension ControlInterface.End {
  /// The end in words: `exited with code 3`, `was killed because …`.
  var words: String { reason.words(code: code, signal: signal) }

  /// Sentences with details of the end, such as `It did not acknowledge …`; nil if there are none.
  var detail: String? {
    let details = [shortcoming, force].compactMap { $0 }
    return details.isEmpty ? nil : details.joined(separator: " ")
  }

  /// The sentence about the stop signal that did not end the application, if the daemon sent
  /// SIGKILL.
  private var force: String? {
    guard let stopSignal, let stopLimitUSec else { return nil }
    return "It did not exit within \(TimeSpan.text(usec: stopLimitUSec)) of "
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
      : "The outstanding task was \(first)."
  }
}

/// Returns `background task 3 'upload'`.
func taskWords(_ id: Int, name: String?) -> String {
  "background task \(id)" + (name.map { " '\(PrintableText.of($0))'" } ?? "")
}

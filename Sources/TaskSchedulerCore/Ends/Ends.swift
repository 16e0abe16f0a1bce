/// The reason why an instance ended (contract §14). Every end has exactly one reason.
public enum EndReason: Equatable, Sendable {
  /// The leader exited by itself.
  case exited(code: Int32)
  /// A signal that the daemon did not send killed the leader.
  case crashed(signal: Int32)
  /// The daemon could not learn how the leader ended. The leader ended while no daemon ran, or the
  /// leader was not a child of the daemon and the kernel is older than 6.15.
  case unknown
  case terminatedByOperator
  case terminatedByUser
  case callbackTimeout
  case backgroundTimeExpired
  case keepAliveTimeout
  case memoryPressure
  case gpuInBackground
  case sharedResourceHeld
  case excessiveUse
  case optedOut
  case schedulerStopped
  /// The daemon had adopted the application because of its window, and then found that it must not
  /// suspend the application, for example because the application plays audio. The application
  /// continues to run, but the daemon no longer manages it.
  case released

  /// Whether an operator or the user ordered the end.
  public var isOrdered: Bool {
    switch self {
    case .terminatedByOperator, .terminatedByUser: true
    case .exited, .crashed, .unknown, .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout,
      .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse, .optedOut,
      .schedulerStopped, .released:
      false
    }
  }

  /// The name of the reason in the contract, in the log and on the wire.
  public var name: String {
    switch self {
    case .exited: "exited"
    case .crashed: "crashed"
    case .unknown: "unknown"
    case .terminatedByOperator: "terminatedByOperator"
    case .terminatedByUser: "terminatedByUser"
    case .callbackTimeout: "callbackTimeout"
    case .backgroundTimeExpired: "backgroundTimeExpired"
    case .keepAliveTimeout: "keepAliveTimeout"
    case .memoryPressure: "memoryPressure"
    case .gpuInBackground: "gpuInBackground"
    case .sharedResourceHeld: "sharedResourceHeld"
    case .excessiveUse: "excessiveUse"
    case .optedOut: "optedOut"
    case .schedulerStopped: "schedulerStopped"
    case .released: "released"
    }
  }
}

/// The end of the leader's process, as the kernel reports it.
public enum ExitStatus: Equatable, Sendable {
  case exited(code: Int32)
  case signaled(Int32)
  /// The process has ended, and the kernel does not report how.
  case unknown
}

/// The end of an instance, which the scheduler stores with the application.
public struct End: Equatable, Sendable {
  public var reason: EndReason
  public var at: Instant
  /// The details of the end; nil if there are none.
  public var detail: EndDetail?
  /// The stop signal and its limit, if the daemon sent SIGKILL after the stop signal; otherwise
  /// nil.
  public var forced: ForcedEnd?

  /// Creates an end with a reason.
  public init(
    reason: EndReason, at: Instant, detail: EndDetail? = nil, forced: ForcedEnd? = nil
  ) {
    self.reason = reason
    self.at = at
    self.detail = detail
    self.forced = forced
  }
}

/// An end by SIGKILL after a stop signal.
public struct ForcedEnd: Equatable, Sendable {
  /// The stop signal.
  public var signal: Signal
  /// `TerminateTimeout`, within which the application did not end.
  public var limit: Duration

  package init(signal: Signal, limit: Duration) {
    self.signal = signal
    self.limit = limit
  }
}

extension EndReason {
  init(_ status: ExitStatus) {
    switch status {
    case .exited(let code): self = .exited(code: code)
    case .signaled(let signal): self = .crashed(signal: signal)
    case .unknown: self = .unknown
    }
  }
}

/// The details of an end.
///
/// The enum is indirect to save memory: every application and instance has a field for the details,
/// but few have details.
public indirect enum EndDetail: Equatable, Sendable {
  /// The application did not acknowledge this callback in time.
  case callback(CallbackKind)
  /// The first of the outstanding background tasks, and their number.
  case task(TaskID, name: String?, outstanding: Int)
  /// The scheduler terminated the application to free memory. `warnedAt` is the instant at which
  /// the application received the memory warning; nil if it received none.
  case memory(MemoryChoice, warnedAt: Instant?)
  /// The CPU time that the application used in the background, the period in which it used this
  /// time, and the share that it was allowed to use.
  case processor(Duration, within: Duration, share: ProcessorShare)
  /// The GPU time that the application used in the background.
  case gpu(Duration)
  /// The file on which the application held a lock or a lease when all its processes were stopped.
  case sharedResource(path: String)
  /// The reason why the daemon must not suspend the application, as a clause about the application.
  case released(reason: String)
}

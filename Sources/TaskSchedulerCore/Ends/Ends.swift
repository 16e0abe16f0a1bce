/// Why an instance ended (contract §14). Every end has exactly one reason.
public enum EndReason: Hashable, Sendable {
  /// It exited by itself.
  case exited(code: Int32)
  /// A signal that the scheduler did not send ended it.
  case crashed(signal: Int32)
  /// The kernel does not tell how it ended: it ended while no daemon ran, or it was not a child of
  /// the daemon and the kernel is older than 6.15.
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

  /// Whether a person ordered it: an operator, or the user.
  public var isOrdered: Bool {
    switch self {
    case .terminatedByOperator, .terminatedByUser: true
    case .exited, .crashed, .unknown, .callbackTimeout, .backgroundTimeExpired, .keepAliveTimeout,
      .memoryPressure, .gpuInBackground, .sharedResourceHeld, .excessiveUse, .optedOut,
      .schedulerStopped:
      false
    }
  }

  /// The reason's name, as it stands in the contract, the log and on the wire.
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
    }
  }
}

/// How the leader's process ended, as the kernel tells it.
public enum ExitStatus: Hashable, Sendable {
  case exited(code: Int32)
  case signaled(Int32)
  /// The process is gone and nobody told how.
  case unknown
}

/// The end of an instance, kept with its application.
public struct End: Hashable, Sendable {
  public var reason: EndReason
  public var at: Instant
  /// What exactly brought it about, where there is more to say than the reason.
  public var detail: EndDetail?
  /// Set where SIGKILL had to follow the signal that asked it to end.
  public var forced: ForcedEnd?

  /// An end for `reason`.
  public init(
    reason: EndReason, at: Instant, detail: EndDetail? = nil, forced: ForcedEnd? = nil
  ) {
    self.reason = reason
    self.at = at
    self.detail = detail
    self.forced = forced
  }
}

/// SIGKILL that followed the signal which asked an application to end.
public struct ForcedEnd: Hashable, Sendable {
  /// What had asked it.
  public var signal: Signal
  /// `TerminateTimeout`: within this it had not ended.
  public var limit: Duration

  package init(signal: Signal, limit: Duration) {
    self.signal = signal
    self.limit = limit
  }
}

import DequeModule

/// The kind of a callback that an application must acknowledge within a limit. The kinds are the
/// six lifecycle callbacks (contract §2, §3) and the call of the keep-alive handler (§6).
public enum CallbackKind: String, Equatable, Sendable, CaseIterable {
  case didFinishLaunching
  case didBecomeActive
  case willResignActive
  case didEnterBackground
  case willEnterForeground
  case willTerminate
  case keepAlive

  /// Returns the limit within which an application must acknowledge the callback.
  func limit(_ policy: SharedPolicy) -> Duration {
    self == .keepAlive ? policy.keepAliveHandlerTime : policy.callbackTimeout
  }
}

/// One callback to one instance.
public struct Callback: Equatable, Sendable {
  public let id: CallbackID
  public let kind: CallbackKind
}

/// The unacknowledged callbacks of one instance. At most one callback is in flight. When the
/// application acknowledges it, the scheduler sends the next one.
struct Callbacks: Equatable, Sendable {
  private(set) var inFlight: Callback?
  /// The start of the limit of the callback in flight.
  private(set) var limitStart = Instant(nanoseconds: 0)
  private(set) var waiting: Deque<CallbackKind> = []
  private(set) var idLast: UInt64 = 0

  var isEmpty: Bool { inFlight == nil }
  var count: Int { (inFlight == nil ? 0 : 1) + waiting.count }

  /// Returns the deadline of the callback in flight.
  func deadline(_ policy: SharedPolicy) -> Instant? {
    inFlight.map { limitStart.advanced(by: $0.kind.limit(policy)) }
  }

  /// Appends callbacks. Returns the callback to send now, if any.
  mutating func enqueue(_ kinds: [CallbackKind], at now: Instant) -> Callback? {
    waiting.append(contentsOf: kinds)
    return inFlight == nil ? sendNext(at: now) : nil
  }

  /// Acknowledges the callback in flight, and puts the next callback in flight.
  ///
  /// - Returns: The acknowledged callback and the next one to send; nil if `id` is not in flight.
  mutating func acknowledge(_ id: CallbackID, at now: Instant) -> (done: Callback, next: Callback?)?
  {
    guard let done = inFlight, done.id == id else { return nil }
    inFlight = nil
    return (done, sendNext(at: now))
  }

  /// Returns whether a callback of this kind is in flight or waits.
  func contains(_ kind: CallbackKind) -> Bool { inFlight?.kind == kind || waits(kind) }

  /// Whether didFinishLaunching or willEnterForeground is unacknowledged. Until the application
  /// acknowledges it, the instance does not become active.
  var hasEntry: Bool { contains(.didFinishLaunching) || contains(.willEnterForeground) }

  /// Returns whether a callback of this kind waits behind the callback in flight.
  func waits(_ kind: CallbackKind) -> Bool { waiting.contains(kind) }

  /// Returns the next id. Callbacks, and the other events that an application may acknowledge,
  /// share one sequence of ids.
  mutating func nextID() -> CallbackID {
    idLast += 1
    return CallbackID(idLast)
  }

  /// Restarts the limit of the callback in flight.
  mutating func restartLimit(at now: Instant) {
    limitStart = now
  }

  private mutating func sendNext(at now: Instant) -> Callback? {
    guard let kind = waiting.popFirst() else { return nil }
    limitStart = now
    inFlight = Callback(id: nextID(), kind: kind)
    return inFlight
  }

  func check() throws(InvariantViolation) {
    try require(inFlight != nil || waiting.isEmpty, "a callback waits, but none is in flight")
    try require(idLast < InvariantViolation.countMax, "the last callback id is too high")
    try require(inFlight.map { $0.id.number <= idLast } ?? true, "a callback has a wrong id")
  }
}

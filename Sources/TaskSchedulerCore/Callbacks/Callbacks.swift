import DequeModule

/// What an application must acknowledge within a time limit: the six lifecycle callbacks (contract
/// §2, §3), and the call of its keep-alive handler (§6).
public enum CallbackKind: String, Hashable, Sendable, CaseIterable {
  case didFinishLaunching
  case didBecomeActive
  case willResignActive
  case didEnterBackground
  case willEnterForeground
  case willTerminate
  case keepAlive

  /// The limit within which it must be acknowledged.
  func limit(_ policy: Policy) -> Duration {
    self == .keepAlive ? policy.keepAliveHandlerTime : policy.callbackTimeout
  }

  /// Why an application is killed that does not acknowledge it.
  var reasonOfLimit: EndReason {
    self == .keepAlive ? .keepAliveTimeout : .callbackTimeout
  }
}

/// One callback to one instance.
public struct Callback: Hashable, Sendable {
  public let id: CallbackID
  public let kind: CallbackKind
}

/// The callbacks of one instance that have not been acknowledged: one at a time is in flight, in
/// order; the next goes out when that one is acknowledged.
struct Callbacks: Hashable, Sendable {
  private(set) var inFlight: Callback?
  /// From when the time limit of the one in flight counts.
  private(set) var limitStart = Instant(nanoseconds: 0)
  private(set) var waiting: Deque<CallbackKind> = []
  private(set) var idLast: UInt64 = 0

  var isEmpty: Bool { inFlight == nil }
  var count: Int { (inFlight == nil ? 0 : 1) + waiting.count }

  /// When the one in flight is due.
  func deadline(_ policy: Policy) -> Instant? {
    inFlight.map { limitStart.advanced(by: $0.kind.limit(policy)) }
  }

  /// Adds callbacks at the end. Returns what is to be sent now.
  mutating func enqueue(_ kinds: [CallbackKind], at now: Instant) -> Callback? {
    waiting.append(contentsOf: kinds)
    return inFlight == nil ? sendNext(at: now) : nil
  }

  /// - Returns: the acknowledged callback and the next to be sent; nil if `id` is not in flight.
  mutating func acknowledge(_ id: CallbackID, at now: Instant) -> (done: Callback, next: Callback?)?
  {
    guard let done = inFlight, done.id == id else { return nil }
    inFlight = nil
    return (done, sendNext(at: now))
  }

  /// Whether one of this kind is in flight or waits.
  func contains(_ kind: CallbackKind) -> Bool { inFlight?.kind == kind || waits(kind) }

  /// Whether it has yet to acknowledge what it was told on its way to the foreground.
  var hasEntry: Bool { contains(.didFinishLaunching) || contains(.willEnterForeground) }

  /// Whether one of this kind waits behind the one in flight.
  func waits(_ kind: CallbackKind) -> Bool { waiting.contains(kind) }

  /// An id for an event that is no callback, from the same numbers.
  mutating func nextID() -> CallbackID {
    idLast += 1
    return CallbackID(idLast)
  }

  /// A debugger has left: the limit runs again from its start.
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
    try require(inFlight != nil || waiting.isEmpty, "a callback waits though none is in flight")
    try require(idLast < InvariantViolation.countMax, "callbacks are numbered too high")
    try require(inFlight.map { $0.id.number <= idLast } ?? true, "a callback is yet to come")
  }
}

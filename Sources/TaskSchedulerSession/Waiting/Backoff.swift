import LinuxSystem

/// The delay between attempts. It doubles with each failed attempt, up to a day.
struct Backoff {
  private var delay = Self.delayMin
  private var lastTry: UInt64?
  /// The earliest time of the next attempt, in nanoseconds since boot.
  private(set) var next: UInt64 = 0

  static let delayMin: Duration = .seconds(1)
  static let delayMax: Duration = .seconds(86_400)
  /// The maximum to which ``expedite()`` shortens the present delay.
  static let delayWhenExpedited: Duration = .seconds(10)

  /// Whether an attempt was made since the last success.
  var isFailing: Bool { delay > Self.delayMin }

  func mayTry(at now: UInt64) -> Bool { now >= next }

  /// Records an attempt. It counts as failed until ``succeeded()`` is called.
  mutating func tried(at now: UInt64) {
    lastTry = now
    next = now + UInt64(delay.microseconds) * 1000
    delay = min(delay * 2, Self.delayMax)
  }

  /// Records a success, after which the next delay is the minimum.
  mutating func succeeded() {
    delay = Self.delayMin
    if let lastTry { next = lastTry + UInt64(Self.delayMin.microseconds) * 1000 }
  }

  /// Permits the next attempt earlier, because a new notification is waiting.
  mutating func expedite() {
    guard let lastTry else { return }
    next = min(next, lastTry + UInt64(Self.delayWhenExpedited.microseconds) * 1000)
  }
}

import LinuxSystem

/// Tries that become rarer as they fail, each wait twice as long as the one before: what lasts is
/// tried a few times an hour at first and then hardly ever.
struct Backoff {
  private var delay = Self.delayMin
  private var lastTry: UInt64?
  /// When the next may be, in nanoseconds since boot.
  private(set) var next: UInt64 = 0

  static let delayMin: Duration = .seconds(1)
  static let delayMax: Duration = .seconds(86_400)
  /// What is wanted anew is tried again after this, at the latest.
  static let delayWhenWanted: Duration = .seconds(10)

  /// Whether the last try has failed, as far as is known.
  var isFailing: Bool { delay > Self.delayMin }

  func mayTry(at now: UInt64) -> Bool { now >= next }

  /// It is tried; from now on for a failure, until it is said to have succeeded.
  mutating func tried(at now: UInt64) {
    lastTry = now
    next = now + UInt64(delay.microseconds) * 1000
    delay = min(delay * 2, Self.delayMax)
  }

  /// The next try is as early again as after the first.
  mutating func succeeded() {
    delay = Self.delayMin
    if let lastTry { next = lastTry + UInt64(Self.delayMin.microseconds) * 1000 }
  }

  /// Permits an earlier attempt, because there is a new notification.
  mutating func wanted() {
    guard let lastTry else { return }
    next = min(next, lastTry + UInt64(Self.delayWhenWanted.microseconds) * 1000)
  }
}

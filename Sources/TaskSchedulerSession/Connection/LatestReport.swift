/// A value of which the daemon must know the newest version. A report contains the whole value, so
/// the newest version replaces those that were not sent.
struct LatestReport<Value: Equatable> {
  /// The newest version; nil if nothing is known.
  private(set) var value: Value?
  /// The version that the daemon knows; nil if it knows none.
  private var reported: Value?

  /// Whether the daemon must still receive the newest version.
  var isDue: Bool { value != reported }

  /// Sets the newest version; nil if nothing is known any more.
  mutating func update(_ value: Value?) { self.value = value }

  /// Begins a new attachment, in which the daemon has not received any report.
  mutating func attached() { reported = nil }

  /// Returns the newest version, and counts it as known to the daemon.
  mutating func take() -> Value? {
    reported = value
    return value
  }
}

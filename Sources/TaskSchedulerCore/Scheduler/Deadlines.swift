/// The next deadline of everyone, and the nearest of all.
typealias Deadlines<ID: Hashable & Comparable & Sendable> = Minima<ID, Instant>

extension Minima where Value == Instant {
  /// The nearest deadline.
  var next: Instant? { least }

  /// Removes and returns whoever's deadline is the nearest of those that have passed.
  mutating func popDue(at now: Instant) -> ID? {
    popLeast { $0 <= now }
  }
}

/// The earlier of two deadlines, or the one that there is.
func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
  guard let one else { return other }
  return other.map { min(one, $0) } ?? one
}

/// A set of deadlines, each with an id, that finds the nearest deadline.
typealias Deadlines<ID: Hashable & Comparable & Sendable> = IndexedPriorityQueue<ID, Instant>

extension IndexedPriorityQueue where Value == Instant {
  /// The nearest deadline; nil if there is none.
  var next: Instant? { least }

  /// Removes the id with the nearest deadline and returns it, if that deadline has passed.
  mutating func popDue(at now: Instant) -> ID? {
    popLeast { $0 <= now }
  }
}

/// Returns the earlier of two deadlines, or the only one.
func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
  guard let one else { return other }
  return other.map { min(one, $0) } ?? one
}

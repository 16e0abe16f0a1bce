/// A set of deadlines, each with an id, that finds the earliest deadline.
typealias Deadlines<ID: Hashable & Comparable & Sendable> = IndexedPriorityQueue<ID, Instant>

extension IndexedPriorityQueue where Value == Instant {
  /// The earliest deadline; nil if there is none.
  var next: Instant? { least }

  /// Removes the id with the earliest deadline and returns the id, if that deadline has passed.
  mutating func popDue(at now: Instant) -> ID? {
    popLeast { $0 <= now }
  }
}

/// Returns the earlier of two deadlines. If one of them is nil, returns the other.
func earlier(_ one: Instant?, _ other: Instant?) -> Instant? {
  guard let one else { return other }
  return other.map { min(one, $0) } ?? one
}

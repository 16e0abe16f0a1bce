/// The next deadline of every instance, and the nearest of all.
typealias Deadlines = Minima<Instant>

extension Deadlines {
  /// The nearest deadline.
  var next: Instant? { least }

  /// Removes and returns the instance whose deadline is the nearest of those that have passed.
  mutating func popDue(at now: Instant) -> InstanceID? {
    popLeast { $0 <= now }
  }
}

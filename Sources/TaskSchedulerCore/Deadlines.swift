import HeapModule

/// The next deadline of every instance, and the nearest of all.
///
/// A change costs O(log n): the heap keeps outdated entries until they come to its top, and is
/// built anew when they are the greater part.
struct Deadlines: Sendable {
  private struct Entry: Comparable {
    let at: Instant
    let instance: InstanceID

    static func < (lhs: Entry, rhs: Entry) -> Bool {
      (lhs.at, lhs.instance) < (rhs.at, rhs.instance)
    }
  }

  private var current: [InstanceID: Instant] = [:]
  private var heap: Heap<Entry> = []

  /// The nearest deadline.
  var next: Instant? { heap.min?.at }

  /// Sets, changes or (nil) removes the deadline of an instance.
  mutating func set(_ instance: InstanceID, to at: Instant?) {
    guard current[instance] != at else { return }
    current[instance] = at
    if let at { heap.insert(Entry(at: at, instance: instance)) }
    if heap.count > 2 * current.count + 64 {
      heap = Heap(current.map { Entry(at: $1, instance: $0) })
    }
    dropOutdated()
  }

  /// Removes and returns the instance whose deadline is the nearest of those that have passed.
  mutating func popDue(at now: Instant) -> InstanceID? {
    guard let first = heap.min, first.at <= now else { return nil }
    current[first.instance] = nil
    dropOutdated()
    return first.instance
  }

  private mutating func dropOutdated() {
    while let first = heap.min, current[first.instance] != first.at {
      heap.removeMin()
    }
  }

  func isSet(_ instance: InstanceID, to at: Instant?) -> Bool { current[instance] == at }

  func check() throws(Contradiction) {
    try require(next == current.values.min(), "the nearest deadline is not on top")
  }
}

import HeapModule

/// A value of everyone that has one, and the least of all.
///
/// A change costs O(log n): the heap keeps outdated entries until they come to its top, and is
/// built anew when they are the greater part.
struct Minima<ID: Hashable & Comparable & Sendable, Value: Comparable & Sendable>: Sendable {
  private struct Entry: Comparable {
    let value: Value
    let id: ID

    static func < (lhs: Entry, rhs: Entry) -> Bool {
      (lhs.value, lhs.id) < (rhs.value, rhs.id)
    }
  }

  private var current: [ID: Value] = [:]
  private var heap: Heap<Entry> = []

  var count: Int { current.count }

  /// Everyone that has a value, in order.
  var all: [ID] { current.keys.sorted() }

  /// The least value.
  var least: Value? { heap.min?.value }

  /// Sets, changes or (nil) removes a value.
  mutating func set(_ id: ID, to value: Value?) {
    guard current[id] != value else { return }
    current[id] = value
    if let value { heap.insert(Entry(value: value, id: id)) }
    if heap.count > 2 * current.count + 64 {
      heap = Heap(current.map { Entry(value: $1, id: $0) })
    }
    dropOutdated()
  }

  /// Removes and returns whoever has the least value, if that fulfills the condition; of several,
  /// the one with the lowest id.
  mutating func popLeast(where condition: (Value) -> Bool) -> ID? {
    guard let first = heap.min, condition(first.value) else { return nil }
    current[first.id] = nil
    dropOutdated()
    return first.id
  }

  private mutating func dropOutdated() {
    while let first = heap.min, current[first.id] != first.value {
      heap.removeMin()
    }
  }

  func isSet(_ id: ID, to value: Value?) -> Bool { current[id] == value }

  func check() throws(InvariantViolation) {
    try require(least == current.values.min(), "the least value is not on top")
  }
}

import HeapModule

/// A set of values, each with an id, that finds the least value.
///
/// A change costs O(log n). The heap keeps outdated entries until they reach its top. The queue
/// rebuilds the heap when the outdated entries outnumber the current entries by more than 64.
struct IndexedPriorityQueue<
  ID: Hashable & Comparable & Sendable, Value: Comparable & Sendable
>: Sendable {
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

  /// The ids that have a value, in ascending order.
  var all: [ID] { current.sortedKeys }

  /// The least value; nil if there is none.
  var least: Value? { heap.min?.value }

  /// Sets, changes or, with nil, removes a value.
  mutating func set(_ id: ID, to value: Value?) {
    guard current[id] != value else { return }
    current[id] = value
    if let value { heap.insert(Entry(value: value, id: id)) }
    if heap.count > 2 * current.count + 64 {
      heap = Heap(current.map { Entry(value: $1, id: $0) })
    }
    dropOutdated()
  }

  /// Removes the id with the least value and returns it, if the value fulfills the condition. If
  /// several ids have the least value, removes the lowest of those ids.
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
    try require(least == current.values.min(), "the heap does not begin with the least value")
  }
}

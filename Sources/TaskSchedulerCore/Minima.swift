import HeapModule

/// A value of every instance that has one, and the least of all.
///
/// A change costs O(log n): the heap keeps outdated entries until they come to its top, and is
/// built anew when they are the greater part.
struct Minima<Value: Comparable & Sendable>: Sendable {
  private struct Entry: Comparable {
    let value: Value
    let instance: InstanceID

    static func < (lhs: Entry, rhs: Entry) -> Bool {
      (lhs.value, lhs.instance) < (rhs.value, rhs.instance)
    }
  }

  private var current: [InstanceID: Value] = [:]
  private var heap: Heap<Entry> = []

  var count: Int { current.count }

  /// The least value.
  var least: Value? { heap.min?.value }

  /// Sets, changes or (nil) removes the value of an instance.
  mutating func set(_ instance: InstanceID, to value: Value?) {
    guard current[instance] != value else { return }
    current[instance] = value
    if let value { heap.insert(Entry(value: value, instance: instance)) }
    if heap.count > 2 * current.count + 64 {
      heap = Heap(current.map { Entry(value: $1, instance: $0) })
    }
    dropOutdated()
  }

  /// Removes and returns the instance with the least value, if that fulfills the condition; of
  /// several, the one with the lowest id.
  mutating func popLeast(where condition: (Value) -> Bool) -> InstanceID? {
    guard let first = heap.min, condition(first.value) else { return nil }
    current[first.instance] = nil
    dropOutdated()
    return first.instance
  }

  private mutating func dropOutdated() {
    while let first = heap.min, current[first.instance] != first.value {
      heap.removeMin()
    }
  }

  func isSet(_ instance: InstanceID, to value: Value?) -> Bool { current[instance] == value }

  func check() throws(Contradiction) {
    try require(least == current.values.min(), "the least value is not on top")
  }
}

// Sorting adds about 7 kB of code for each combination of a collection type and an element type.
// These properties therefore sort only an array of the keys.

extension Dictionary where Key: Comparable {
  /// The keys in ascending order.
  package var sortedKeys: [Key] {
    var keys = Array(self.keys)
    keys.sort()
    return keys
  }

  /// The elements in the order of their keys.
  package var sortedByKey: [(key: Key, value: Value)] {
    sortedKeys.compactMap { key in self[key].map { (key, $0) } }
  }
}

extension Dictionary where Key: Comparable {
  /// The elements in the order of their keys.
  ///
  /// Sorts the keys alone. A sort of the elements would move the values, and the compiler would
  /// generate its code again for each type of value.
  package var sortedByKey: [(key: Key, value: Value)] {
    keys.sorted().compactMap { key in self[key].map { (key, $0) } }
  }
}

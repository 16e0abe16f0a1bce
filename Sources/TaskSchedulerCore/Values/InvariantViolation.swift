/// The violation of an invariant.
struct InvariantViolation: Error, Equatable {
  let sentence: String

  /// The upper bound of every counter. No counter reaches it in the life of a machine, so a stored
  /// counter beyond it is damaged.
  static let countMax = UInt64.max / 2
}

/// Throws a violation with the sentence if the invariant does not hold.
func require(_ holds: Bool, _ sentence: String) throws(InvariantViolation) {
  if !holds { throw InvariantViolation(sentence: sentence) }
}

/// Compares stored counts with the elements that they count. The counts are right if nothing is
/// left after each element was subtracted.
struct CountCheck<Element: Hashable> {
  private var left: [Element: Int]

  init(_ counts: [Element: Int]) { left = counts }

  mutating func subtract(_ element: Element, count: Int = 1) {
    if count > 0 { left[element, default: 0] -= count }
  }

  /// Whether the counts were right.
  var isExact: Bool { left.values.allSatisfy { $0 == 0 } }
}

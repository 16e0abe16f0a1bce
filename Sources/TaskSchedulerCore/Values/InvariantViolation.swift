/// The violation of an invariant.
struct InvariantViolation: Error, Equatable {
  let sentence: String

  /// The upper bound of every counter. No counter reaches it in the life of a machine, so that a
  /// stored counter beyond it is damaged.
  static let countMax = UInt64.max / 2
}

/// Throws a violation with the sentence unless the invariant holds.
func require(_ holds: Bool, _ sentence: String) throws(InvariantViolation) {
  if !holds { throw InvariantViolation(sentence: sentence) }
}

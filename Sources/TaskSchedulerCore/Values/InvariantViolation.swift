/// An invariant that is violated.
struct InvariantViolation: Error, Hashable {
  let sentence: String

  /// The maximum of every count. No count reaches it in the life of a machine, so that a higher one
  /// is damaged.
  static let countMax = UInt64.max / 2
}

func require(_ holds: Bool, _ sentence: String) throws(InvariantViolation) {
  if !holds { throw InvariantViolation(sentence: sentence) }
}

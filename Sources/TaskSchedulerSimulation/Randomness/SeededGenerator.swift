/// A random number generator with a seed: SplitMix64 (Steele, Lea, Flood 2014).
///
/// Every use has its own stream of numbers. If shrinking skips an action, the other actions
/// therefore still draw the same numbers.
public struct SeededGenerator: Sendable {
  /// The purpose of a stream.
  enum Stream: UInt64 {
    case faults = 1, policy, habits, actions, reactions, effects, deaths, memory, session, audio
    case players, calls, audioSessions, journey, location, fixes, agentStops
  }

  private var state: UInt64

  init(seed: UInt64, _ stream: Stream, _ index: UInt64 = 0) {
    state = Self.mix(seed &+ Self.mix(stream.rawValue &* Self.step ^ Self.mix(index)))
  }

  private static let step: UInt64 = 0x9E37_79B9_7F4A_7C15

  private static func mix(_ value: UInt64) -> UInt64 {
    var mixed = value
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }

  mutating func next() -> UInt64 {
    state &+= Self.step
    return Self.mix(state)
  }

  /// Returns a number from 0 to `bound - 1`.
  mutating func below(_ bound: UInt64) -> UInt64 {
    precondition(bound > 0, "the bound is 0; it must be at least 1")
    return next().multipliedFullWidth(by: bound).high
  }

  /// Returns a number from 0 to `bound - 1`.
  mutating func below(_ bound: Int) -> Int { Int(below(UInt64(bound))) }

  /// Returns true with a probability in thousandths.
  mutating func happens(_ permille: Int) -> Bool { permille > 0 && below(1000) < permille }

  mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

  /// Returns an index into weights, with a probability in proportion to the weight.
  mutating func weighted(_ weights: [Int]) -> Int {
    var rest = below(max(1, weights.reduce(0, +)))
    for (index, weight) in weights.enumerated() {
      if rest < weight { return index }
      rest -= weight
    }
    return 0
  }
}

/// A key of `taskctl switcher`.
enum SwitcherKey: Hashable {
  case up, down, first, last
  case activate, remove, leave
  /// Ctrl-Z.
  case suspend
}

/// Recognizes keys in the bytes that a terminal sends.
struct SwitcherKeys {
  /// The beginning of a sequence: Esc, or Esc and its next bytes.
  private var pending: [UInt8] = []

  /// Whether Esc has arrived, and the rest of its sequence may follow.
  var isWaiting: Bool { !pending.isEmpty }

  /// Returns the keys in the bytes. Unknown keys and sequences have no effect.
  mutating func take(_ bytes: some Sequence<UInt8>) -> [SwitcherKey] {
    bytes.compactMap { take($0) }
  }

  /// Ends the wait for the rest of a sequence. Returns `leave` if only Esc has arrived.
  mutating func finish() -> SwitcherKey? {
    defer { pending = [] }
    return pending == [Self.escape] ? .leave : nil
  }

  private static let escape: UInt8 = 0x1B

  private mutating func take(_ byte: UInt8) -> SwitcherKey? {
    if pending.isEmpty { return key(byte) }
    pending.append(byte)
    // A second Esc is a key of its own.
    if byte == Self.escape {
      pending = []
      return .leave
    }
    switch pending.count {
    case 2:
      if byte != UInt8(ascii: "["), byte != UInt8(ascii: "O") { pending = [] }
      return nil
    case _:
      // The parameters of a sequence are digits and punctuation; a byte from 0x40 on ends it.
      guard byte >= 0x40 || pending.count > 16 else { return nil }
      defer { pending = [] }
      return Self.sequences[String(decoding: pending.dropFirst(2), as: UTF8.self)]
    }
  }

  private mutating func key(_ byte: UInt8) -> SwitcherKey? {
    switch byte {
    case UInt8(ascii: "k"): return .up
    case UInt8(ascii: "j"): return .down
    case UInt8(ascii: "g"): return .first
    case UInt8(ascii: "G"): return .last
    case UInt8(ascii: "\r"), UInt8(ascii: "\n"): return .activate
    case UInt8(ascii: "x"): return .remove
    // Ctrl-C and Ctrl-D.
    case UInt8(ascii: "q"), 0x03, 0x04: return .leave
    case 0x1A: return .suspend
    case Self.escape:
      pending = [byte]
      return nil
    case _: return nil
    }
  }

  /// The keys, by the bytes that follow `Esc [` or `Esc O` in their sequences.
  private static let sequences: [String: SwitcherKey] = [
    "A": .up, "B": .down, "H": .first, "F": .last, "1~": .first, "4~": .last, "3~": .remove,
  ]
}

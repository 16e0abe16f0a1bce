/// The kind of a system change (contract §10).
public enum SystemChangeKind: Equatable, Sendable {
  case timeZone
  /// A user or a program set the wall clock.
  case clock
  /// A new day began in the machine's time zone.
  case day
  case locale
  case network
  case powerSource
  /// A custom change, which a user or an operator posted under this name.
  case custom(String)
}

/// A system change.
public struct SystemChange: Equatable, Sendable {
  public var kind: SystemChangeKind
  /// The new value, if it can be stated in a word: `Europe/Berlin`, `2026-11-22`, `de_DE.UTF-8`,
  /// `online` or `offline`, `mains` or `battery`, or the text of a custom change.
  public var value: String?

  public init(kind: SystemChangeKind, value: String? = nil) {
    self.kind = kind
    self.value = value
  }
}

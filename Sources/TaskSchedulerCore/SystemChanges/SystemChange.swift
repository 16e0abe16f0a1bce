/// What of the machine may change under an application (contract §10).
public enum SystemChangeKind: Hashable, Sendable {
  case timeZone
  /// The wall clock was set.
  case clock
  /// A new day began, by the machine's time zone.
  case day
  case locale
  case network
  case powerSource
  /// Named and posted by an operator.
  case custom(String)
}

/// One change of the machine.
public struct SystemChange: Hashable, Sendable {
  public var kind: SystemChangeKind
  /// What holds now, where a word says it: `Europe/Berlin`, `2026-11-22`, `de_DE.UTF-8`,
  /// `online` or `offline`, `mains` or `battery`, or what the operator wrote.
  public var value: String?

  public init(kind: SystemChangeKind, value: String? = nil) {
    self.kind = kind
    self.value = value
  }
}

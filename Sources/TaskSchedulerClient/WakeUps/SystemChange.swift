import TaskSchedulerWire

/// A change of the machine. What it changed to is nil where no word says it.
public enum SystemChange: Hashable, Sendable {
  /// Where the machine takes its power from.
  public enum PowerSource: String, Hashable, Sendable { case mains, battery }

  /// The machine's time zone: `Europe/Berlin`.
  case timeZone(String?)
  /// Somebody has set the clock.
  case clock
  /// Another day has begun: `2026-11-22`.
  case day(String?)
  /// The machine's locale: `de_DE.UTF-8`.
  case locale(String?)
  /// Whether it is connected.
  case network(isOnline: Bool?)
  case powerSource(PowerSource?)
  /// What an operator posted.
  case custom(name: String, value: String?)

  init(_ change: ApplicationInterface.SystemChange) {
    switch change.kind {
    case .timeZone: self = .timeZone(change.value)
    case .clock: self = .clock
    case .day: self = .day(change.value)
    case .locale: self = .locale(change.value)
    case .network: self = .network(isOnline: change.value.map { $0 == "online" })
    case .powerSource: self = .powerSource(change.value.flatMap(PowerSource.init(rawValue:)))
    case .custom: self = .custom(name: change.name ?? "", value: change.value)
    }
  }
}

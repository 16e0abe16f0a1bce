import TaskSchedulerWire

/// A change of the machine. A value is nil if the daemon does not know it.
public enum SystemChange: Hashable, Sendable {
  /// A source of power.
  public enum PowerSource: String, Hashable, Sendable {
    /// The machine runs on mains power.
    case mains
    /// The machine runs on its battery.
    case battery
  }

  /// The machine has another time zone.
  case timeZone(TimeZoneName?)
  /// A program or a user has set the clock.
  case clock
  /// Another day has begun in the machine's time zone.
  case day(CalendarDay?)
  /// The machine has another locale, for example `de_DE.UTF-8`.
  case locale(String?)
  /// The machine has gone online or offline.
  case network(isOnline: Bool?)
  /// The machine has another source of power.
  case powerSource(PowerSource?)
  /// A user or an operator posted a change, with `taskctl post`.
  case custom(name: String, value: String?)

  init(_ change: ApplicationInterface.SystemChange) {
    switch change.kind {
    case .timeZone: self = .timeZone(change.value.map { TimeZoneName($0) })
    case .clock: self = .clock
    case .day: self = .day(change.value.flatMap { CalendarDay($0) })
    case .locale: self = .locale(change.value)
    case .network: self = .network(isOnline: change.value.map { $0 == "online" })
    case .powerSource: self = .powerSource(change.value.flatMap(PowerSource.init(rawValue:)))
    case .custom: self = .custom(name: change.name ?? "", value: change.value)
    }
  }
}

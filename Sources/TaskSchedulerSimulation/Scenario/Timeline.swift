import TaskSchedulerCore

/// The timeline of a scenario or of a daemon's event log.
public struct Timeline: Hashable, Sendable {
  public var entries: [Entry] = []
  /// Whether it would go on: the scenario's `until` was reached, or the longest timeline, or only
  /// the policy's own clock goes on and brings nothing.
  public var isCut = false

  /// Entries of a timeline that does not come to rest by itself.
  public static let entriesMax = 100_000
  /// Instants of one at which anything is done, also where it brings no entry.
  public static let turnsMax = 100_000
  /// How many of these in a row may bring nothing with nothing planned. Then only time goes on, as
  /// where the policy looks again and again for the debugger that holds a limit.
  static let quietTurnsMax = 100

  /// One entry of a timeline.
  public struct Entry: Hashable, Sendable {
    /// The time since the start of the scenario or of the event log.
    public var at: Duration
    /// The application; nil for an entry of the daemon or the machine.
    public var application: ApplicationID?
    public var kind: Kind
  }

  /// The kind of an entry.
  public enum Kind: Hashable, Sendable {
    /// A step of the scenario, as it was written, or an event of an event log.
    case step(String)
    /// The state of an application at the start of the event log.
    case stands(ApplicationState, [BackgroundTask])
    case change(Record.Change)
    /// A callback, or an expiration handler with what is left of the time.
    case callback(CallbackKind)
    case expiration(TaskID, remaining: Duration?)
    /// A signal that the daemon sends to the processes.
    case signal(Signal)
    /// A notice that the application need not answer.
    case notice(Notice)
    /// A notification of its own is shown to the user.
    case shown(NotificationID)
    /// The daemon is back.
    case daemonReturned
  }
}

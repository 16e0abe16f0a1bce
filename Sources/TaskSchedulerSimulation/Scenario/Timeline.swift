import TaskSchedulerCore

/// The timeline of a scenario or of a daemon's event log.
public struct Timeline: Equatable, Sendable {
  public var entries: [Entry] = []
  /// Whether the timeline would continue. If so, it stopped at the scenario's `until`, at the
  /// maximum length, or when only timers without effects were left.
  public var isCut = false

  /// The maximum number of entries.
  public static let entriesMax = 100_000
  /// The maximum number of instants in a run, including those without an entry.
  public static let turnsMax = 100_000
  /// The maximum number of successive instants without an entry while no event is planned. Beyond
  /// this number, only timers without effects are left, such as repeated checks for a debugger, or
  /// looks for an unchanged location.
  static let quietTurnsMax = 100

  /// One entry of a timeline.
  public struct Entry: Equatable, Sendable {
    /// The time since the start of the scenario or of the event log.
    public var at: Duration
    /// The application; nil for an entry of the daemon or the machine.
    public var application: ApplicationID?
    public var kind: Kind
  }

  /// The kind of an entry.
  public enum Kind: Equatable, Sendable {
    /// A step of the scenario in the words of its file, or an event of an event log.
    case step(String)
    /// The state of an application at the start of the event log.
    case stands(ApplicationState, [BackgroundTask])
    case change(Record.Change)
    /// A callback that the application receives.
    case callback(CallbackKind)
    /// The call of an expiration handler, with the remaining background time.
    case expiration(TaskID, remaining: Duration?)
    /// A signal that the daemon sends to the processes.
    case signal(Signal)
    /// A message to the application other than a callback.
    case notice(Notice)
    /// A notification of the application that is shown to the user.
    case shown(NotificationID)
    /// The daemon has restarted.
    case daemonReturned
  }
}

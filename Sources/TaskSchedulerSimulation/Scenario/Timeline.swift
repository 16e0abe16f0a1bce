import TaskSchedulerCore

/// What the policy made of a scenario.
public struct Timeline: Hashable, Sendable {
  public var entries: [Entry] = []
  /// Whether it would go on: the scenario's `until` was reached, or the longest timeline.
  public var isCut = false

  /// Entries of a timeline that does not come to rest by itself.
  public static let entriesMax = 100_000

  /// One thing that happened.
  public struct Entry: Hashable, Sendable {
    /// Since the scenario's start.
    public var at: Duration
    /// nil for what is of no application.
    public var application: ApplicationID?
    public var kind: Kind
  }

  /// What happened.
  public enum Kind: Hashable, Sendable {
    /// A step of the scenario, as it was written.
    case step(String)
    case change(Record.Change)
    /// A callback, or an expiration handler with what is left of the time.
    case callback(CallbackKind)
    case expiration(TaskID, remaining: Duration?)
    case signal(Signal)
    /// The daemon is back.
    case daemonReturned
  }

  /// What is sent to the processes.
  public enum Signal: String, Hashable, Sendable {
    case terminate = "SIGTERM"
    case kill = "SIGKILL"
  }
}

/// How much of an instance's windows the user sees.
public enum WindowVisibility: String, Equatable, Sendable, CaseIterable {
  /// A window of the instance has the keyboard focus.
  case focused
  /// A window of the instance is on the screen. None of its windows has the focus.
  case visible
  /// The instance has windows. None of them is on the screen.
  case hidden
  /// The instance has no window any more.
  case closed
}

/// What the user sees of an instance.
public struct WindowReport: Equatable, Sendable {
  public var instance: InstanceID
  /// The visibility of the most visible window of the instance; never `closed`.
  public var visibility: WindowVisibility

  public init(_ instance: InstanceID, _ visibility: WindowVisibility) {
    self.instance = instance
    self.visibility = visibility
  }
}

/// All windows of a user's session at one instant, as the user's session agent reports them.
public struct WindowSnapshot: Equatable, Sendable {
  /// One report for each instance that has a window. An instance that is not in the list has no
  /// window.
  public var windows: [WindowReport]
  /// Whether a window of an instance or of another program has the focus. False on an empty
  /// workspace and, in X11, while the focus moves from one window to another.
  public var hasFocus: Bool

  public init(_ windows: [WindowReport] = [], hasFocus: Bool) {
    self.windows = windows
    self.hasFocus = hasFocus
  }
}

/// What the scheduler knows about the windows of one instance.
struct ReportedWindow: Equatable, Sendable {
  /// The visibility of the windows; nil after the scheduler has discarded the reports of the agent.
  private(set) var visibility: WindowVisibility?
  /// The instant of the last change of the visibility.
  private(set) var since: Instant
  /// The start of `FocusSettleTime`, after which the instance becomes inactive; nil if that limit
  /// does not run.
  private(set) var unfocusedSince: Instant?
  /// The start of `FocusSettleTime` plus `HiddenGraceTime`, after which the instance goes to the
  /// background; nil if this limit does not run.
  private(set) var hiddenSince: Instant?

  /// Whether the instance is known to have windows.
  var isOpen: Bool { visibility != nil && visibility != .closed }

  /// Whether the windows are known and none of them is on the screen.
  var isHidden: Bool { visibility == .hidden || visibility == .closed }

  init(_ visibility: WindowVisibility, at now: Instant) {
    self.visibility = visibility
    since = now
  }

  init(
    visibility: WindowVisibility?, since: Instant, unfocusedSince: Instant?, hiddenSince: Instant?
  ) {
    self.visibility = visibility
    self.since = since
    self.unfocusedSince = unfocusedSince
    self.hiddenSince = hiddenSince
  }

  /// Records a change of the visibility, and starts the limits of an instance in the foreground.
  mutating func change(
    to next: WindowVisibility, isActive: Bool, isForeground: Bool, at now: Instant
  ) {
    visibility = next
    since = now
    unfocusedSince = next != .focused && isActive ? unfocusedSince ?? now : nil
    switch next {
    case .focused, .visible: hiddenSince = nil
    case .hidden, .closed: hiddenSince = isForeground ? hiddenSince ?? now : nil
    }
  }

  /// Discards what an agent has reported, after the connection to it has ended. The first report of
  /// the next agent then counts as a change, even if the report contains no window of the instance.
  mutating func forget() {
    visibility = nil
    hold()
  }

  /// Cancels the limit after which the instance becomes inactive, because the instance is no longer
  /// active.
  mutating func resigned() { unfocusedSince = nil }

  /// Cancels all limits. The instance keeps its state until the next change of the window.
  mutating func hold() {
    unfocusedSince = nil
    hiddenSince = nil
  }

  func resignsAt(_ policy: SharedPolicy) -> Instant? {
    unfocusedSince?.advanced(by: policy.focusSettleTime)
  }

  func leavesAt(_ policy: SharedPolicy) -> Instant? {
    hiddenSince?.advanced(by: policy.focusSettleTime + policy.hiddenGraceTime)
  }

  func nextDue(_ policy: SharedPolicy) -> Instant? {
    if unfocusedSince == nil, hiddenSince == nil { return nil }
    return earlier(resignsAt(policy), leavesAt(policy))
  }

  /// Restarts the limits, because the agent could not report the windows for a time.
  mutating func restart(at now: Instant) {
    if unfocusedSince != nil { unfocusedSince = now }
    if hiddenSince != nil { hiddenSince = now }
  }
}

/// The five states of an application (contract §2). Foreground is `active` or `inactive`;
/// background is `background` or `suspended`.
public enum ApplicationState: String, Hashable, Sendable, Codable, CaseIterable {
  /// No process. May go to `active` and `background`, by launch.
  case notRunning
  /// Interrupted, or visible without focus. May go to `active`, `background`, `notRunning`.
  case inactive
  /// Has the seat. May go to `inactive`, `background`, `notRunning`.
  case active
  /// Runs unseen while something entitles it. May go to `suspended`, `active`, `notRunning`.
  case background
  /// Runs not one instruction. May go to `background`, `active`, `notRunning`.
  case suspended

  public var isForeground: Bool { self == .active || self == .inactive }
}

/// Where an application is launched to.
public enum LaunchTarget: String, Hashable, Sendable, Codable {
  case foreground, background
}

/// Why an instance was started.
public enum LaunchReason: String, Hashable, Sendable, Codable, CaseIterable {
  /// A person chose it, or it registered by itself.
  case user
  /// `taskctl launch` or `taskctl run`.
  case `operator`
  /// The daemon started.
  case boot
  /// It had ended in a way that calls for a new start.
  case relaunch
  /// A significant location change or a region.
  case location
  /// A person chose its notification, or a remote one arrived.
  case notification

  /// Whether a person or an operator is behind it.
  var isAskedFor: Bool {
    switch self {
    case .user, .operator, .notification: true
    case .boot, .relaunch, .location: false
    }
  }
}

/// What brought a transition about.
public enum TransitionCause: String, Hashable, Sendable, Codable, CaseIterable {
  /// The scheduler started it.
  case launch
  /// It opened its event stream.
  case register
  /// A running process was taken under management.
  case adopt
  /// A person or an operator brought it to the foreground.
  case activate
  /// It was interrupted, or lost the focus while visible.
  case interruption
  /// A person or an operator sent it away.
  case sendAway
  /// Another application was activated at its seat.
  case otherActivated
  /// It is to end.
  case terminate
  /// Nothing entitles it to run any longer.
  case noEntitlement
  /// An event that it must handle.
  case event
  /// Its processes were stopped, and something other than the scheduler has resumed them; or they
  /// could not be stopped again after the daemon's absence.
  case suspensionLost
  /// Its leader exited.
  case leaderExited
  /// The scheduler stops and lets go of it.
  case schedulerStopped
}

/// The modes that a manifest may declare.
public enum BackgroundMode: String, Hashable, Sendable, Codable, CaseIterable {
  case audio, location, voip
}

extension ApplicationState: Compact {}
extension LaunchReason: Compact {}
extension TransitionCause: Compact {}
extension BackgroundMode: Compact {}

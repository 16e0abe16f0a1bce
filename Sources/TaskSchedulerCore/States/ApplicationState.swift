/// The five states of an application (contract §2). Foreground is `active` or `inactive`;
/// background is `background` or `suspended`.
public enum ApplicationState: String, Hashable, Sendable, CaseIterable {
  /// No process. May go to `active` and `background`, by launch.
  case notRunning
  /// In front of its seat, and interrupted, or has not acknowledged didFinishLaunching or
  /// willEnterForeground yet. May go to `active`, `background`, `notRunning`.
  case inactive
  /// In front of its seat. May go to `inactive`, `background`, `notRunning`.
  case active
  /// Runs unseen while something entitles it. May go to `suspended`, `notRunning`, and to the
  /// foreground.
  case background
  /// Runs not one instruction. May go to `background`, `notRunning`, and to the foreground.
  case suspended

  public var isForeground: Bool { self == .active || self == .inactive }
}

/// Where an application is launched to.
public enum LaunchTarget: String, Hashable, Sendable {
  case foreground, background
}

/// Why an instance was started.
public enum LaunchReason: String, Hashable, Sendable, CaseIterable {
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
public enum TransitionCause: Hashable, Sendable {
  /// The scheduler started it.
  case launch
  /// It opened its event stream.
  case register
  /// A running process was taken under management.
  case adopt
  /// A person or an operator brought it to the foreground.
  case activate
  /// It acknowledged what it was told on its way to the foreground.
  case acknowledged
  /// It was interrupted, or lost the focus while visible.
  case interruption
  /// A person or an operator sent it away.
  case sendAway
  /// The application given was activated at its seat.
  case otherActivated(by: ApplicationKey)
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

  /// The cause's name, as it stands in the log and on the wire.
  public var name: String {
    switch self {
    case .launch: "launch"
    case .register: "register"
    case .adopt: "adopt"
    case .activate: "activate"
    case .acknowledged: "acknowledged"
    case .interruption: "interruption"
    case .sendAway: "sendAway"
    case .otherActivated: "otherActivated"
    case .terminate: "terminate"
    case .noEntitlement: "noEntitlement"
    case .event: "event"
    case .suspensionLost: "suspensionLost"
    case .leaderExited: "leaderExited"
    case .schedulerStopped: "schedulerStopped"
    }
  }

  /// The application that was activated in its place.
  public var activated: ApplicationKey? {
    if case .otherActivated(let application) = self { application } else { nil }
  }
}

/// The modes that a manifest may declare.
public enum BackgroundMode: String, Hashable, Sendable, CaseIterable {
  case audio, location, voip
}

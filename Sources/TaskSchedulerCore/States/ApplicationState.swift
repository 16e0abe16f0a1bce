/// The five states of an application (contract §2). Foreground is `active` or `inactive`;
/// background is `background` or `suspended`.
public enum ApplicationState: String, Equatable, Sendable, CaseIterable {
  /// The scheduler manages no process of the application. A launch leads to `inactive`, `active` or
  /// `background`.
  case notRunning
  /// The application is in the foreground of its seat. It was interrupted, its windows do not have
  /// the focus, or it has not yet acknowledged didFinishLaunching or willEnterForeground. It may
  /// become `active`, `background` or `notRunning`.
  case inactive
  /// The application is in the foreground of its seat. It may become `inactive`, `background` or
  /// `notRunning`.
  case active
  /// The application runs in the background while something entitles it to run. It may become
  /// `suspended` or `notRunning`, or enter the foreground.
  case background
  /// The processes execute no instruction. The application may become `background` or `notRunning`,
  /// or enter the foreground.
  case suspended

  public var isForeground: Bool { self == .active || self == .inactive }
}

/// The state that a launch leads to.
public enum LaunchTarget: String, Equatable, Sendable {
  case foreground, background
}

/// The reason for the start of an instance.
public enum LaunchReason: String, Equatable, Sendable, CaseIterable {
  /// A user chose the application, the application registered itself, or the daemon adopted the
  /// application because of its window.
  case user
  /// A user or an operator ran `taskctl launch` or `taskctl run`.
  case `operator`
  /// The daemon started.
  case boot
  /// The application ended in a way that requires a relaunch.
  case relaunch
  /// The location changed significantly, or the machine entered or left a region.
  case location
  /// A user chose a notification of the application, or answered a call of a modem.
  case notification
  /// A modem has an incoming call, and the setting `CallApplication` names the application.
  case call

  /// Whether a user or an operator requested the launch.
  var isAskedFor: Bool {
    switch self {
    case .user, .operator, .notification: true
    case .boot, .relaunch, .location, .call: false
    }
  }
}

/// The cause of a transition.
public enum TransitionCause: Equatable, Sendable {
  /// The scheduler started the application.
  case launch
  /// The application opened its event stream.
  case register
  /// The scheduler began to manage a running process.
  case adopt
  /// A user or an operator brought the application to the foreground.
  case activate
  /// The application acknowledged the callbacks of its transition to the foreground.
  case acknowledged
  /// A user or an operator made the application inactive.
  case interruption
  /// A user or an operator sent the application to the background.
  case sendAway
  /// Another application was activated at the same seat.
  case otherActivated(by: ApplicationKey)
  /// The application is being terminated.
  case terminate
  /// Nothing entitles the application to run any longer.
  case noEntitlement
  /// The application must handle an event.
  case event
  /// A process of the suspended application runs. Another program resumed it, or a recovered daemon
  /// could not stop it again.
  case suspensionLost
  /// The leader of the application exited.
  case leaderExited
  /// The scheduler stops and no longer manages the application.
  case schedulerStopped
  /// A window of the application got the focus.
  case focused
  /// A window of the application is visible, without the focus.
  case shown
  /// The windows of the application lost the focus.
  case unfocused
  /// The windows of the application have been hidden for `FocusSettleTime` plus `HiddenGraceTime`.
  case hidden
  /// All windows of the suspended application have disappeared or become unknown. The application
  /// itself could not close them.
  case closed
  /// The screen of the seat was locked.
  case locked
  /// The screen of the seat was unlocked.
  case unlocked
  /// The application is audible or records, and has mode audio or a phone call.
  case audio
  /// The application must handle a command, for example from a media key.
  case remoteControl
  /// A program reads the properties of the application's media player.
  case remoteRead
  /// The scheduler must tell the application that the location changed significantly, or that the
  /// machine entered or left a region.
  case location
  /// A phone call began, was put on hold, or is no longer on hold.
  case call
  /// A phone call ended.
  case callEnded
  /// The daemon had adopted the application because of its window, and then found that it must not
  /// suspend the application. The scheduler no longer manages the application.
  case released

  /// The name of the cause in the log and on the wire.
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
    case .focused: "focused"
    case .shown: "shown"
    case .unfocused: "unfocused"
    case .hidden: "hidden"
    case .closed: "closed"
    case .locked: "locked"
    case .unlocked: "unlocked"
    case .audio: "audio"
    case .remoteControl: "remoteControl"
    case .remoteRead: "remoteRead"
    case .location: "location"
    case .call: "call"
    case .callEnded: "callEnded"
    case .released: "released"
    }
  }

  /// The application that was activated at the same seat.
  public var activated: ApplicationKey? {
    if case .otherActivated(let application) = self { application } else { nil }
  }
}

/// A mode that a manifest may declare.
public enum BackgroundMode: String, Equatable, Sendable, CaseIterable {
  case audio, location, voip
}

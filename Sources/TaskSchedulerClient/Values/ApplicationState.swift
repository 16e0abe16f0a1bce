import Glibc
import TaskSchedulerWire

/// The state of an application.
public enum ApplicationState: String, Hashable, Sendable, CaseIterable {
  /// No process of the application runs.
  case notRunning
  /// The application is in the foreground and receives no input.
  case inactive
  /// The application is in the foreground and receives input.
  case active
  /// The application runs in the background.
  case background
  /// The daemon has stopped the processes of the application. The application itself cannot observe
  /// this state.
  case suspended

  init(_ state: ApplicationInterface.State) {
    switch state {
    case .notRunning: self = .notRunning
    case .inactive: self = .inactive
    case .active: self = .active
    case .background: self = .background
    case .suspended: self = .suspended
    }
  }
}

/// The reason why the process of an application was started.
public enum LaunchReason: String, Hashable, Sendable, CaseIterable {
  /// A user started the application, or the process registered by itself.
  case user
  /// An operator started the application, with `taskctl launch` or `taskctl run`.
  case `operator`
  /// The daemon launched the application when the daemon itself started, because the application
  /// has the background mode `voip`.
  case boot
  /// The daemon launched the application again after an unexpected end.
  case relaunch
  /// The device has moved a significant distance, or crossed the boundary of a region.
  case location
  /// A user selected a notification of the application.
  case notification
  /// A modem has an incoming call, and the setting `CallApplication` names the application.
  case call

  init(_ reason: ApplicationInterface.LaunchReason) {
    switch reason {
    case .user: self = .user
    case .operator: self = .operator
    case .boot: self = .boot
    case .relaunch: self = .relaunch
    case .location: self = .location
    case .notification: self = .notification
    case .call: self = .call
    }
  }

  /// The reason that the environment of this process names; nil if it names none.
  ///
  /// The daemon, `taskctl run` and `taskctl task` set the variable `TASKSCHEDD_LAUNCH_REASON`, so
  /// that a program knows the reason before it registers.
  public static var ofEnvironment: LaunchReason? {
    guard let value = getenv("TASKSCHEDD_LAUNCH_REASON") else { return nil }
    return LaunchReason(rawValue: String(cString: value))
  }

  /// The identifier of a region, from the environment of this process, if the daemon started the
  /// process because the machine entered or left that region; otherwise nil.
  ///
  /// The daemon sets the variable `TASKSCHEDD_LAUNCH_REGION`, so that a program knows the region
  /// before it registers.
  public static var regionOfEnvironment: String? {
    guard ofEnvironment == .location, let value = getenv("TASKSCHEDD_LAUNCH_REGION") else {
      return nil
    }
    return String(cString: value)
  }
}

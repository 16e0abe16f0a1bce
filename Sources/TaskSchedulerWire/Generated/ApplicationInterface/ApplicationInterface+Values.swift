// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The five states of an application. Foreground is active or inactive; background is background
  /// or suspended. An application that comes to the foreground is inactive until it has
  /// acknowledged didFinishLaunching or willEnterForeground; then it is active, and didBecomeActive
  /// follows. Else a field `state` names the target of a transition that has begun: an application
  /// that is sent away is in the background at once, before it has acknowledged didEnterBackground.
  public enum State: String, WireEnumeration {
    case notRunning, inactive, active, background, suspended
  }

  /// The six lifecycle callbacks, each to be acknowledged within CallbackTimeout (6 s by default);
  /// and keepAlive, the call of the keep-alive handler, within KeepAliveHandlerTime (30 s by
  /// default).
  public enum CallbackKind: String, WireEnumeration {
    case didFinishLaunching
    case didBecomeActive
    case willResignActive
    case didEnterBackground
    case willEnterForeground
    case willTerminate
    case keepAlive
  }

  /// Why the instance was started.
  /// - `user`: a person chose it, or it registered by itself
  /// - `operator`: taskctl launch, or taskctl run
  /// - `boot`: the daemon started
  /// - `relaunch`: it had ended in a way that calls for a new start
  /// - `location`: a significant location change or a region
  /// - `notification`: a person chose its notification, or a remote one arrived
  public enum LaunchReason: String, WireEnumeration {
    case user, `operator`, boot, relaunch, location, notification
  }

  /// What of the machine may change. `custom` changes are posted by an operator and have a name.
  public enum SystemChangeKind: String, WireEnumeration {
    case timeZone, clock, day, locale, network, powerSource, custom
  }

  /// How often a notification repeats, by the calendar of its time zone.
  public enum RepeatInterval: String, WireEnumeration {
    case minute, hour, day, week, month, year
  }

  /// Whether a notification waits for its time, has fired and not been shown yet, or was shown.
  public enum NotificationState: String, WireEnumeration {
    case scheduled, fired, presented
  }
}

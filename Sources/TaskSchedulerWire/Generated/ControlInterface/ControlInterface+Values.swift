// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// See org.taskschedd.Application.State, which also describes the state during a transition.
  public typealias State = ApplicationInterface.State

  /// See org.taskschedd.Application.LaunchReason.
  public typealias LaunchReason = ApplicationInterface.LaunchReason

  /// The reason why an instance ended.
  ///
  /// The reason is unknown if the daemon cannot learn how the leader ended. This happens mostly if
  /// no daemon ran at that time. Before Linux 6.15, it also happens if the daemon did not launch
  /// the instance. If an operator or the user requested the end, the reason is terminatedByOperator
  /// or terminatedByUser, even if the daemon had to kill the application because it did not
  /// respond.
  public enum EndKind: String, WireEnumeration {
    case exited
    case crashed
    case unknown
    case terminatedByOperator
    case terminatedByUser
    case callbackTimeout
    case backgroundTimeExpired
    case keepAliveTimeout
    case memoryPressure
    case gpuInBackground
    case sharedResourceHeld
    case excessiveUse
    case optedOut
    case schedulerStopped
    case released
  }

  /// See org.taskschedd.Application.CallbackKind.
  public typealias CallbackKind = ApplicationInterface.CallbackKind

  /// An entitlement of an application to run in the background.
  /// - `backgroundTask`: a background task, while background time is left
  /// - `callback`: a callback that the application has not acknowledged yet
  /// - `audio`: it plays or records audio, or did so less than AudioGraceTime ago
  /// - `location`: it receives location updates
  /// - `event`: it handles an event
  public enum Entitlement: String, WireEnumeration {
    case backgroundTask, callback, audio, location, event
  }

  /// See org.taskschedd.Application.BackgroundTask.
  public typealias BackgroundTask = ApplicationInterface.BackgroundTask

  /// What an instance does with audio, as the user's session agent reports it.
  /// - `playing`: it is audible
  /// - `recording`: it records audio
  /// - `muted`: the daemon has muted it, because it is suspended or interrupted
  /// - `ducked`: the daemon has lowered its volume, because another application plays
  /// - `interrupted`: a phone call or another application interrupts its audio
  /// - `calling`: it has a phone call
  /// - `onHold`: its phone call is on hold because of a newer phone call
  public enum AudioUse: String, WireEnumeration {
    case playing, recording, muted, ducked, interrupted, calling, onHold
  }

  /// The kind of an application's last entitlement to run in the background, and how it ended.
  /// - `task`: the application ended a background task
  /// - `callback`: the application acknowledged a callback
  /// - `audio`: the application ceased to play and record; the entitlement lasted for
  ///   AudioGraceTime after that
  /// - `silence`: the application had played only silence for AudioSilenceTime; the entitlement
  ///   lasted for AudioGraceTime after that
  /// - `audioLost`: no session agent reports audio any more
  /// - `location`: the application does not receive location updates any more
  /// - `event`: the application finished handling an event
  /// - `eventTime`: the time to handle an event, usually EventTime, was over
  /// - `launchTime`: the time to open the event stream (LaunchTime) was over
  public enum EndedEntitlementKind: String, WireEnumeration {
    case task, callback, audio, silence, audioLost, location, event, eventTime, launchTime
  }

  /// The kind of a limit, by what the daemon does when the limit is reached.
  /// - `callback`: kills the application if it has not acknowledged the callback
  /// - `expiration`: calls the expiration handlers of the background tasks
  /// - `backgroundTime`: suspends the application, or kills it if it has an outstanding task
  /// - `launch`: stops waiting for the application to open its event stream
  /// - `event`: stops waiting for the application to handle an event
  /// - `suspension`: tries again to stop the processes
  /// - `kill`: sends SIGKILL after the stop signal, which is SIGTERM by default
  /// - `killRetry`: tries again to send SIGKILL
  /// - `keepAlive`: calls the keep-alive handler
  /// - `relaunch`: launches the application again
  /// - `relaunchAfterPressure`: launches the application again when memory pressure is over
  /// - `unfocused`: makes the application inactive, unless its window gets the focus again
  /// - `hidden`: sends the application to the background if its windows are still hidden
  /// - `audio`: stops waiting for the application to play or record again, or counts it as paused
  ///   because it has played only silence
  /// - `mute`: suspends the application even if its audio is not muted yet
  public enum LimitKind: String, WireEnumeration {
    case callback
    case expiration
    case backgroundTime
    case launch
    case event
    case suspension
    case kill
    case killRetry
    case keepAlive
    case relaunch
    case relaunchAfterPressure
    case unfocused
    case hidden
    case audio
    case mute
  }

  /// How much of an application's windows the user sees.
  /// - `focused`: a window has the keyboard focus
  /// - `visible`: a window is on the screen without the focus
  /// - `hidden`: no window is on the screen
  /// - `closed`: it has no window any more
  public enum WindowVisibility: String, WireEnumeration {
    case focused, visible, hidden, closed
  }

  /// What the application switcher shows of an application.
  /// - `none`: the icon, because the application has set no snapshot
  /// - `picture`: the picture that GetSnapshot returns
  /// - `sensitive`: the icon, because the application asked to be shown without a picture
  public enum SnapshotKind: String, WireEnumeration {
    case none, picture, sensitive
  }

  /// A service that reports the location to an application.
  /// - `updates`: continuous updates, while the application runs
  /// - `significantChanges`: changes of about 500 m or more
  /// - `regions`: crossings of the boundaries of regions
  public enum LocationService: String, WireEnumeration {
    case updates, significantChanges, regions
  }

  /// See org.taskschedd.Application.LocationAuthorization.
  public typealias LocationAuthorization = ApplicationInterface.LocationAuthorization

  /// See org.taskschedd.Application.LocationDenial.
  public typealias LocationDenial = ApplicationInterface.LocationDenial

  /// See org.taskschedd.Application.LocationAccuracy.
  public typealias LocationAccuracy = ApplicationInterface.LocationAccuracy

  /// See org.taskschedd.Application.Location.
  public typealias Location = ApplicationInterface.Location

  /// See org.taskschedd.Application.Region.
  public typealias Region = ApplicationInterface.Region

  /// See org.taskschedd.Application.RepeatInterval.
  public typealias RepeatInterval = ApplicationInterface.RepeatInterval

  /// See org.taskschedd.Application.NotificationSchedule.
  public typealias NotificationSchedule = ApplicationInterface.NotificationSchedule

  /// See org.taskschedd.Application.NotificationContent.
  public typealias NotificationContent = ApplicationInterface.NotificationContent

  /// See org.taskschedd.Application.NotificationState.
  public typealias NotificationState = ApplicationInterface.NotificationState

  /// See org.taskschedd.Application.Notification.
  public typealias Notification = ApplicationInterface.Notification

  /// The kind of a change.
  /// - `transition`: the application changed its state
  /// - `registered`: the application opened its event stream
  /// - `taskBegan`, `taskEnded`, `taskExpired`: a background task began, ended or expired
  /// - `ended`: an instance ended; `reason` says why
  /// - `refused`: the daemon refused a call; `reason` names the error
  /// - `suspensionFailed`: the daemon could not stop all processes, or another program resumed one;
  ///   the application is no longer suspended
  /// - `signalFailed`: an operation on the application's processes failed; `reason` describes the
  ///   failure
  /// - `keepAliveSet`: the application set or cleared its keep-alive handler
  /// - `keepAliveCalled`: the daemon called the keep-alive handler
  /// - `socketManaged`, `socketReleased`, `socketsReady`: a managed socket was added, released or
  ///   became ready
  /// - `notificationScheduled`, `notificationsCancelled`, `notificationFired`,
  ///   `notificationChosen`: a notification was scheduled or cancelled, has fired, or was chosen by
  ///   the user
  /// - `badgeSet`: the application set its badge
  /// - `relaunchPlanned`: the daemon will launch the application again
  /// - `memoryWarned`: the daemon warned the application that memory is low
  /// - `memoryChosen`: the daemon chose to terminate the application under memory pressure
  /// - `throttled`: the daemon throttled the application for its CPU use, or lifted the throttle
  /// - `listening`: the application was suspended with a socket on which it listens, or has more
  ///   descriptors than the daemon examines
  /// - `ruleBroken`: the application broke a background rule
  /// - `snapshotChanged`: the application switcher shows another snapshot of the application
  /// - `removedFromSwitcher`: the application was removed from the application switcher
  /// - `audioChanged`: the application began or ceased to play or to record
  /// - `audioMuted`: the daemon muted the application's audio, or ended the mute
  /// - `audioDucked`: the daemon lowered the application's volume, or restored it
  /// - `remoteControlled`: the application was sent a command such as play or pause
  /// - `audioInterrupted`: a phone call or another application interrupted the application's audio,
  ///   or the interruption ended
  /// - `callChanged`: the application's phone call began, ended, was put on hold, or is no longer
  ///   on hold
  /// - `locationStarted`, `locationStopped`: the application began or ceased to use a location
  ///   service
  /// - `regionMonitored`, `regionForgotten`: the application added or removed a region
  /// - `regionCrossed`: the machine entered or left a region of the application
  /// - `significantChange`: the application was told that the location changed significantly
  /// - `locationAuthorized`: the user or an operator decided whether the application may learn the
  ///   location, or withdrew such a decision
  public enum ChangeKind: String, WireEnumeration {
    case transition
    case registered
    case taskBegan
    case taskEnded
    case taskExpired
    case ended
    case refused
    case suspensionFailed
    case signalFailed
    case keepAliveSet
    case keepAliveCalled
    case socketManaged
    case socketReleased
    case socketsReady
    case notificationScheduled
    case notificationsCancelled
    case notificationFired
    case notificationChosen
    case badgeSet
    case relaunchPlanned
    case memoryWarned
    case memoryChosen
    case throttled
    case listening
    case ruleBroken
    case snapshotChanged
    case removedFromSwitcher
    case audioChanged
    case audioMuted
    case audioDucked
    case remoteControlled
    case audioInterrupted
    case callChanged
    case locationStarted
    case locationStopped
    case regionMonitored
    case regionForgotten
    case regionCrossed
    case significantChange
    case locationAuthorized
  }

  /// A command to a media player. seek moves the position.
  public enum RemoteCommand: String, WireEnumeration {
    case play, pause, playPause, next, previous, stop, seek
  }

  /// The phase of memory pressure.
  /// - `calm`: there is no memory pressure
  /// - `warned`: the daemon has warned all running applications
  /// - `measuring`: the daemon measures the memory of the applications that it may terminate
  /// - `ending`: the daemon terminates an application
  /// - `reclaiming`: the kernel reclaims the memory of the terminated application
  public enum MemoryPhase: String, WireEnumeration {
    case calm, warned, measuring, ending, reclaiming
  }
}

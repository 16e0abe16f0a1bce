// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// See org.taskschedd.Application.State: the target of a transition that has begun.
  public typealias State = ApplicationInterface.State

  /// See org.taskschedd.Application.LaunchReason.
  public typealias LaunchReason = ApplicationInterface.LaunchReason

  /// Why an instance ended. Exactly one of these for every end. `unknown`: the instance ended while
  /// no daemon ran, or the kernel does not tell how (before Linux 6.15, of a process that is no
  /// child of the daemon). An operator's or the user's terminate is the reason also where the
  /// daemon had to kill the application because it did not answer.
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
  }

  /// See org.taskschedd.Application.CallbackKind.
  public typealias CallbackKind = ApplicationInterface.CallbackKind

  /// What entitles an application to run in the background: a background task with time left, an
  /// unacknowledged callback, audio that plays, location updates, an event being handled.
  public enum Entitlement: String, WireEnumeration {
    case backgroundTask, callback, audio, location, event
  }

  /// See org.taskschedd.Application.BackgroundTask.
  public typealias BackgroundTask = ApplicationInterface.BackgroundTask

  /// What entitled an application to run in the background last, and does not any more.
  /// - `task`: a background task, `task` and `taskName`: it was ended
  /// - `callback`: the callback of this kind: it was acknowledged
  /// - `audio`, `location`, `event`: it does not play, locate or handle an event any more
  /// - `eventTime`: the time to handle an event (EventTime) was over
  /// - `launchTime`: the time to open its event stream (LaunchTime) was over
  public enum EndedEntitlementKind: String, WireEnumeration {
    case task, callback, audio, location, event, eventTime, launchTime
  }

  /// What comes next by itself.
  /// - `callback`: it is killed, unless it has acknowledged the callback of this kind
  /// - `expiration`: the expiration handlers of its background tasks are called
  /// - `backgroundTime`: its background time is over: it is suspended, or killed with a task
  ///   outstanding
  /// - `launch`: the time to open its event stream is over
  /// - `event`: the time to handle what it was woken for is over
  /// - `suspension`: stopping its processes is tried again
  /// - `kill`: SIGKILL follows SIGTERM
  /// - `killRetry`: SIGKILL, which could not be sent to all, is tried again
  /// - `keepAlive`: its keep-alive handler is called
  /// - `relaunch`: it is launched again
  /// - `relaunchAfterPressure`: it may be launched again, once memory pressure is over
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
  }

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

  /// What changed.
  /// - `transition`: an application went from one state to another
  /// - `registered`: an application opened its event stream
  /// - `taskBegan`, `taskEnded`, `taskExpired`
  /// - `ended`: an instance ended; `reason` says why
  /// - `refused`: a request was refused; `reason` names the error
  /// - `suspensionFailed`: the processes could not all be stopped, or another program resumed one;
  ///   all run
  /// - `signalFailed`: a signal could not be sent
  /// - `keepAliveSet`, `keepAliveCalled`
  /// - `socketManaged`, `socketReleased`, `socketsReady`
  /// - `notificationScheduled`, `notificationsCancelled`, `notificationFired`, `notificationChosen`
  /// - `badgeSet`: an application has set its badge
  /// - `relaunchPlanned`: an application will be launched again
  /// - `memoryWarned`: an application was told that memory is short
  /// - `memoryChosen`: an application is to end, that others may have its memory
  /// - `throttled`: an application is throttled for its CPU use, or is no longer throttled
  /// - `listening`: an application was suspended with a socket on which it listens, or has more
  ///   descriptors than were examined
  /// - `ruleBroken`: an application violated a rule for the background
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
  }

  /// How far it has come with pressure on memory: none; all who run were warned; the candidates are
  /// being measured; one is ending; its memory is being taken back.
  public enum MemoryPhase: String, WireEnumeration {
    case calm, warned, measuring, ending, reclaiming
  }
}

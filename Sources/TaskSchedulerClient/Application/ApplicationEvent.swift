/// An event that an application receives.
///
/// The first six cases, up to ``willTerminate``, are the lifecycle events. The daemon kills an
/// application that does not acknowledge a lifecycle event within `CallbackTimeout`, 6 s by
/// default. A delegate acknowledges an event when its method for the event returns. A loop over
/// ``ScheduledApplication/events`` acknowledges an event by taking the next one.
public enum ApplicationEvent: Hashable, Sendable {
  /// The process has been launched. This is the first event, and comes once for each process.
  case didFinishLaunching(LaunchReason)
  /// The application is in the foreground and receives input.
  case didBecomeActive
  /// An interruption begins, or the application is about to leave the foreground.
  case willResignActive
  /// The application is in the background. After the acknowledgement, the daemon suspends the
  /// application, unless the application has begun a background task.
  case didEnterBackground
  /// The application leaves the background. It is inactive until it has acknowledged this event, or
  /// longer if its windows are visible but do not have the focus.
  case willEnterForeground
  /// The daemon ends the process after the acknowledgement. It ends a suspended application without
  /// this event.
  case willTerminate
  /// The daemon has restarted and does not know these tasks. They no longer entitle the application
  /// to run in the background.
  case didLoseBackgroundTasks([BackgroundTaskID])
  /// Managed sockets became ready while the application was suspended.
  ///
  /// The application may run for `EventTime`, 10 s by default, or longer with a background task.
  /// The daemon suspends it again after the acknowledgement.
  case socketsDidBecomeReady([ReadySocket])
  /// The machine has changed. After a suspension, the array contains the newest change of each
  /// kind.
  case systemDidChange([SystemChange])
  /// The machine is short of memory. Free caches and other memory that the application can
  /// rebuild.
  ///
  /// If the pressure lasts, the daemon ends applications, suspended ones first.
  case didReceiveMemoryWarning
  /// The user sent the application a command, for example by a media key.
  ///
  /// A command goes to the application that played most recently. If this application is a media
  /// player on the session bus, it receives the command as a method call on the bus. Otherwise it
  /// receives this event, for which it needs the background mode `audio`.
  ///
  /// The application may run for `EventTime`, 10 s by default. After the acknowledgement, the
  /// daemon suspends the application again unless the application plays.
  case didReceiveRemoteCommand(RemoteCommand)
  /// A phone call or another application interrupts the audio of the application, or the
  /// interruption has ended.
  ///
  /// An interruption begins only while the application plays or records. Another application causes
  /// it by beginning to play, unless the audio session of one of the two applications permits both
  /// to play (``ScheduledApplication/setAudioSession(_:options:)``). Pause when the interruption
  /// begins. When it ends, play again if `shouldResume` is true. A phone call also makes an active
  /// application inactive: ``willResignActive`` follows the beginning of the interruption, and
  /// ``didBecomeActive`` follows its end.
  ///
  /// The application may run for `EventTime`, 10 s by default. After the acknowledgement, the
  /// daemon may suspend it, so begin to play before you acknowledge the event.
  case didReceiveAudioInterruption(AudioInterruption)
  /// A newer call has put the phone call of the application on hold, or the phone call is no longer
  /// on hold.
  ///
  /// Only an application that has called ``ScheduledApplication/beginCall()`` receives this event.
  /// It may run for `EventTime`, 10 s by default, to handle it.
  case didSetCallOnHold(Bool)
  /// The location, while continuous updates run.
  ///
  /// ``ScheduledApplication/startUpdatingLocation(desiredAccuracy:distanceFilter:)`` starts the
  /// updates.
  case didUpdateLocation(Location)
  /// The machine has moved by 500 m or more.
  ///
  /// ``ScheduledApplication/startMonitoringSignificantLocationChanges()`` requests this event. The
  /// first event reports the first location after the request. If the application does not run,
  /// the daemon launches it.
  ///
  /// The application may run for `EventTime`, 10 s by default, or longer with a background task.
  /// The daemon suspends it again after the acknowledgement.
  case didChangeLocationSignificantly(Location)
  /// The machine has entered a region.
  ///
  /// ``ScheduledApplication/startMonitoring(for:)`` requests this event. If the application does
  /// not run, the daemon launches it.
  ///
  /// The application may run for `EventTime`, 10 s by default, or longer with a background task.
  /// The daemon suspends it again after the acknowledgement.
  case didEnterRegion(RegionCrossing)
  /// The machine has left a region. The description of ``didEnterRegion(_:)`` also applies to this
  /// event.
  case didExitRegion(RegionCrossing)
  /// The application may learn the location from now on, or may no longer learn it.
  ///
  /// The services that the application has started stay started. They report the location only
  /// while the application is authorized.
  case didChangeLocationAuthorization(LocationAuthorization)
  /// A notification of the application has fired while the application was active. The desktop
  /// does not show it.
  case didReceive(LocalNotification)
  /// The user selected a notification of the application. The daemon activates the application.
  case didSelect(LocalNotification)
  /// The daemon has restarted and refuses the keep-alive handler. It no longer calls the handler.
  case didLoseKeepAlive(ApplicationError)
  /// The daemon has restarted and refuses the continuous updates of the location, which no longer
  /// run. Regions and significant changes are not affected.
  case didLoseLocationUpdates(ApplicationError)
}

/// An event for the application, with the action that acknowledges it.
struct Delivery: Sendable {
  let event: ApplicationEvent
  /// Acknowledges the event. Blocks until the daemon replies. Call it once.
  let acknowledge: @Sendable () -> Void

  init(_ event: ApplicationEvent, acknowledge: @escaping @Sendable () -> Void = {}) {
    self.event = event
    self.acknowledge = acknowledge
  }
}

/// The receiver of an application's events.
protocol EventSink: Sendable {
  func deliver(_ delivery: Delivery, to application: ScheduledApplication)
  /// Ends the events. The error is nil if the application called `close()`.
  func finish(_ error: ApplicationError?, of application: ScheduledApplication)
}

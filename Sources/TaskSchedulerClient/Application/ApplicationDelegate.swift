import Dispatch

/// The methods that handle the events of an application.
///
/// The library calls all methods on one serial queue, in the order of the events. When a method
/// returns, the library acknowledges the event. The first six methods, up to
/// ``applicationWillTerminate(_:)``, handle the lifecycle events. The daemon kills an application
/// that does not acknowledge a lifecycle event within `CallbackTimeout`, 6 s by default. Each
/// method has a default implementation that returns at once.
public protocol ApplicationDelegate: Sendable {
  // MARK: - State

  /// Tells the delegate that the process has been launched.
  ///
  /// The library calls this method before all others, and once for each process. An application
  /// that is launched to the foreground is inactive until the method returns.
  /// ``applicationDidBecomeActive(_:)`` follows.
  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason)

  /// Tells the delegate that the application is in the foreground and receives input.
  func applicationDidBecomeActive(_ application: ScheduledApplication)

  /// Tells the delegate that an interruption begins, or that the application is about to leave the
  /// foreground.
  func applicationWillResignActive(_ application: ScheduledApplication)

  /// Tells the delegate that the application is in the background.
  ///
  /// When the method returns, the daemon suspends the application, unless the application has begun
  /// a background task. Begin a background task in this method at the latest.
  func applicationDidEnterBackground(_ application: ScheduledApplication)

  /// Tells the delegate that the application leaves the background.
  ///
  /// The application is inactive until the method returns. ``applicationDidBecomeActive(_:)``
  /// follows, unless the windows of the application are visible but do not have the focus.
  func applicationWillEnterForeground(_ application: ScheduledApplication)

  /// Tells the delegate that the daemon will end the process when the method returns.
  ///
  /// The daemon ends a suspended application without calling this method.
  func applicationWillTerminate(_ application: ScheduledApplication)

  // MARK: - Sockets, audio, location, notifications and the machine

  /// Tells the delegate that a managed socket became ready while the application was suspended.
  ///
  /// If several sockets became ready, the library calls the method once for each socket. The
  /// application may run for `EventTime`, 10 s by default, or longer with a background task. The
  /// daemon suspends the application again when the last call has returned.
  func application(
    _ application: ScheduledApplication, socketDidBecomeReady socket: ManagedSocket,
    conditions: SocketConditions)

  /// Tells the delegate that the user sent the application a command, for example by a media key.
  ///
  /// A command goes to the application that played most recently. If this application is a media
  /// player on the session bus, it receives the command as a method call on the bus. Otherwise it
  /// receives this event, for which it needs the background mode `audio`.
  ///
  /// The application may run for `EventTime`, 10 s by default. When the method has returned, the
  /// daemon suspends the application again unless the application plays, so begin to play in this
  /// method.
  func application(
    _ application: ScheduledApplication, didReceiveRemoteCommand command: RemoteCommand)

  /// Tells the delegate that a phone call or another application interrupts the audio of the
  /// application, or that the interruption has ended.
  ///
  /// An interruption begins only while the application plays or records. Another application causes
  /// it by beginning to play, unless the audio session of one of the two applications permits both
  /// to play (``ScheduledApplication/setAudioSession(_:options:)``). Pause when the interruption
  /// begins. When it ends, play again if `shouldResume` is true. A phone call also makes an active
  /// application inactive: ``applicationWillResignActive(_:)`` follows the beginning of the
  /// interruption, and ``applicationDidBecomeActive(_:)`` follows its end.
  ///
  /// The application may run for `EventTime`, 10 s by default. When the method has returned, the
  /// daemon may suspend it, so begin to play in this method.
  func application(
    _ application: ScheduledApplication,
    didReceiveAudioInterruption interruption: AudioInterruption)

  /// Tells the delegate that a newer call has put the phone call of the application on hold, or
  /// that the phone call is no longer on hold.
  ///
  /// Only an application that has called ``ScheduledApplication/beginCall()`` receives this event.
  /// It may run for `EventTime`, 10 s by default, to handle it.
  func application(_ application: ScheduledApplication, didSetCallOnHold isOnHold: Bool)

  /// Tells the delegate the location, while continuous updates run.
  ///
  /// ``ScheduledApplication/startUpdatingLocation(desiredAccuracy:distanceFilter:)`` starts the
  /// updates.
  func application(_ application: ScheduledApplication, didUpdateLocation location: Location)

  /// Tells the delegate that the machine has moved by 500 m or more.
  ///
  /// ``ScheduledApplication/startMonitoringSignificantLocationChanges()`` requests this event. The
  /// first event reports the first location after the request. If the application does not run,
  /// the daemon launches it.
  ///
  /// The application may run for `EventTime`, 10 s by default, or longer with a background task.
  /// The daemon suspends it again when the method has returned.
  func application(
    _ application: ScheduledApplication, didChangeLocationSignificantly location: Location)

  /// Tells the delegate that the machine has entered a region.
  ///
  /// ``ScheduledApplication/startMonitoring(for:)`` requests this event. If the application does
  /// not run, the daemon launches it.
  ///
  /// The application may run for `EventTime`, 10 s by default, or longer with a background task.
  /// The daemon suspends it again when the method has returned.
  func application(_ application: ScheduledApplication, didEnterRegion crossing: RegionCrossing)

  /// Tells the delegate that the machine has left a region.
  ///
  /// The description of ``application(_:didEnterRegion:)`` also applies to this event.
  func application(_ application: ScheduledApplication, didExitRegion crossing: RegionCrossing)

  /// Tells the delegate that the application may learn the location from now on, or that it may no
  /// longer learn it.
  ///
  /// The services that the application has started stay started. They report the location only
  /// while the application is authorized.
  func application(
    _ application: ScheduledApplication,
    didChangeLocationAuthorization authorization: LocationAuthorization)

  /// Tells the delegate that a notification has fired while the application was active.
  ///
  /// The desktop does not show the notification.
  func application(
    _ application: ScheduledApplication, didReceive notification: LocalNotification)

  /// Tells the delegate that the user selected a notification.
  ///
  /// The daemon activates the application, or launches it if it does not run.
  func application(
    _ application: ScheduledApplication, didSelect notification: LocalNotification)

  /// Tells the delegate that the machine has changed.
  ///
  /// After a suspension, the array has only the newest change of each kind, the oldest of these
  /// changes first.
  func application(
    _ application: ScheduledApplication, systemDidChange changes: [SystemChange])

  /// Tells the delegate that the machine is short of memory.
  ///
  /// Free caches and other memory that the application can rebuild. If the pressure lasts, the
  /// daemon ends applications, suspended ones first.
  func applicationDidReceiveMemoryWarning(_ application: ScheduledApplication)

  // MARK: - Losses

  /// Tells the delegate that the daemon has restarted and does not know these tasks.
  ///
  /// The tasks no longer entitle the application to run in the background.
  func application(
    _ application: ScheduledApplication, didLoseBackgroundTasks tasks: [BackgroundTaskID])

  /// Tells the delegate that the daemon has restarted and refuses the keep-alive handler.
  ///
  /// The daemon no longer calls the handler.
  func application(
    _ application: ScheduledApplication, didLoseKeepAliveWithError error: ApplicationError)

  /// Tells the delegate that the daemon has restarted and refuses the continuous updates of the
  /// location.
  ///
  /// The updates no longer run. Regions and significant changes are not affected.
  func application(
    _ application: ScheduledApplication, didLoseLocationUpdatesWithError error: ApplicationError)

  /// Tells the delegate that the daemon permanently refuses this process.
  ///
  /// The application receives no events, and each request throws the same error.
  func application(
    _ application: ScheduledApplication, didLoseRegistrationWithError error: ApplicationError)
}

public extension ApplicationDelegate {
  func application(
    _ application: ScheduledApplication, didFinishLaunchingWithReason reason: LaunchReason
  ) {}
  func applicationDidBecomeActive(_ application: ScheduledApplication) {}
  func applicationWillResignActive(_ application: ScheduledApplication) {}
  func applicationDidEnterBackground(_ application: ScheduledApplication) {}
  func applicationWillEnterForeground(_ application: ScheduledApplication) {}
  func applicationWillTerminate(_ application: ScheduledApplication) {}
  func application(
    _ application: ScheduledApplication, socketDidBecomeReady socket: ManagedSocket,
    conditions: SocketConditions
  ) {}
  func application(
    _ application: ScheduledApplication, didReceiveRemoteCommand command: RemoteCommand
  ) {}
  func application(
    _ application: ScheduledApplication,
    didReceiveAudioInterruption interruption: AudioInterruption
  ) {}
  func application(_ application: ScheduledApplication, didSetCallOnHold isOnHold: Bool) {}
  func application(_ application: ScheduledApplication, didUpdateLocation location: Location) {}
  func application(
    _ application: ScheduledApplication, didChangeLocationSignificantly location: Location
  ) {}
  func application(
    _ application: ScheduledApplication, didEnterRegion crossing: RegionCrossing
  ) {}
  func application(
    _ application: ScheduledApplication, didExitRegion crossing: RegionCrossing
  ) {}
  func application(
    _ application: ScheduledApplication,
    didChangeLocationAuthorization authorization: LocationAuthorization
  ) {}
  func application(
    _ application: ScheduledApplication, didReceive notification: LocalNotification
  ) {}
  func application(
    _ application: ScheduledApplication, didSelect notification: LocalNotification
  ) {}
  func application(
    _ application: ScheduledApplication, systemDidChange changes: [SystemChange]
  ) {}
  func applicationDidReceiveMemoryWarning(_ application: ScheduledApplication) {}
  func application(
    _ application: ScheduledApplication, didLoseBackgroundTasks tasks: [BackgroundTaskID]
  ) {}
  func application(
    _ application: ScheduledApplication, didLoseKeepAliveWithError error: ApplicationError
  ) {}
  func application(
    _ application: ScheduledApplication, didLoseLocationUpdatesWithError error: ApplicationError
  ) {}
  func application(
    _ application: ScheduledApplication, didLoseRegistrationWithError error: ApplicationError
  ) {}
}

/// A sink that calls the delegate on the application's queue, and acknowledges the event when the
/// delegate's method returns.
struct DelegateSink: EventSink {
  let delegate: any ApplicationDelegate

  func deliver(_ delivery: Delivery, to application: ScheduledApplication) {
    application.queue.async {
      call(delivery.event, application)
      delivery.acknowledge()
    }
  }

  func finish(_ error: ApplicationError?, of application: ScheduledApplication) {
    guard let error else { return }
    application.queue.async {
      delegate.application(application, didLoseRegistrationWithError: error)
    }
  }

  private func call(_ event: ApplicationEvent, _ application: ScheduledApplication) {
    switch event {
    case .didFinishLaunching(let reason):
      delegate.application(application, didFinishLaunchingWithReason: reason)
    case .didBecomeActive: delegate.applicationDidBecomeActive(application)
    case .willResignActive: delegate.applicationWillResignActive(application)
    case .didEnterBackground: delegate.applicationDidEnterBackground(application)
    case .willEnterForeground: delegate.applicationWillEnterForeground(application)
    case .willTerminate: delegate.applicationWillTerminate(application)
    case .didLoseBackgroundTasks(let tasks):
      delegate.application(application, didLoseBackgroundTasks: tasks)
    case .socketsDidBecomeReady(let ready):
      for one in ready {
        delegate.application(
          application, socketDidBecomeReady: one.socket, conditions: one.conditions)
      }
    case .systemDidChange(let changes):
      delegate.application(application, systemDidChange: changes)
    case .didReceiveMemoryWarning: delegate.applicationDidReceiveMemoryWarning(application)
    case .didReceiveRemoteCommand(let command):
      delegate.application(application, didReceiveRemoteCommand: command)
    case .didReceiveAudioInterruption(let interruption):
      delegate.application(application, didReceiveAudioInterruption: interruption)
    case .didSetCallOnHold(let isOnHold):
      delegate.application(application, didSetCallOnHold: isOnHold)
    case .didUpdateLocation(let location):
      delegate.application(application, didUpdateLocation: location)
    case .didChangeLocationSignificantly(let location):
      delegate.application(application, didChangeLocationSignificantly: location)
    case .didEnterRegion(let crossing):
      delegate.application(application, didEnterRegion: crossing)
    case .didExitRegion(let crossing):
      delegate.application(application, didExitRegion: crossing)
    case .didChangeLocationAuthorization(let authorization):
      delegate.application(application, didChangeLocationAuthorization: authorization)
    case .didReceive(let notification):
      delegate.application(application, didReceive: notification)
    case .didSelect(let notification):
      delegate.application(application, didSelect: notification)
    case .didLoseKeepAlive(let error):
      delegate.application(application, didLoseKeepAliveWithError: error)
    case .didLoseLocationUpdates(let error):
      delegate.application(application, didLoseLocationUpdatesWithError: error)
    }
  }
}

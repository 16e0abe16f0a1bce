import Dispatch

/// What an application does at each change of its state, in Apple's words. A method's return is its
/// acknowledgement: it has the daemon's `CallbackTimeout` (6 s by default), after which the
/// application is killed. All are called on one serial queue, in order; each does nothing unless it
/// is implemented.
public protocol ApplicationDelegate: Sendable {
  /// The first, once in the life of the process. An application that was launched to the foreground
  /// is inactive until this has returned; `applicationDidBecomeActive` follows.
  func applicationDidFinishLaunching(_ application: ScheduledApplication, reason: LaunchReason)
  /// It is in the foreground, and events go to it.
  func applicationDidBecomeActive(_ application: ScheduledApplication)
  /// It is about to be interrupted, or sent away.
  func applicationWillResignActive(_ application: ScheduledApplication)
  /// To be followed by suspension: what must be finished needs a background task, begun here at
  /// the latest.
  func applicationDidEnterBackground(_ application: ScheduledApplication)
  /// It has left the background, and is inactive until this has returned;
  /// `applicationDidBecomeActive` follows.
  func applicationWillEnterForeground(_ application: ScheduledApplication)
  /// The process is ended when this has returned. Not called for one that is suspended.
  func applicationWillTerminate(_ application: ScheduledApplication)
  /// A daemon that came back knows nothing of these tasks any more: they grant nothing.
  func applicationDidLoseBackgroundTasks(
    _ application: ScheduledApplication, tasks: [BackgroundTaskID])
  /// A managed socket became ready while the application was suspended. When this has returned for
  /// each that did, the application is suspended again: what needs longer than `EventTime` (10 s
  /// by default), or goes on elsewhere, needs a background task.
  func application(
    _ application: ScheduledApplication, socketReady socket: ManagedSocket,
    conditions: SocketConditions)
  /// The machine has changed; what changed during a suspension comes after it, the newest of each
  /// kind, in order.
  func application(
    _ application: ScheduledApplication, systemDidChange changes: [SystemChange])
  /// Memory is short: let go of what can be had again, such as caches. Where that does not help,
  /// applications are ended, those that are suspended first.
  func applicationDidReceiveMemoryWarning(_ application: ScheduledApplication)
  /// A notification of its own has fired while it was active: the user is not shown it.
  func application(
    _ application: ScheduledApplication, didReceive notification: LocalNotification)
  /// The user has chosen a notification of its own; the application is activated for it.
  func application(_ application: ScheduledApplication, didChoose notification: LocalNotification)
  /// A daemon that came back takes the keep-alive handler no longer: it is not called any more.
  func applicationDidLoseKeepAlive(_ application: ScheduledApplication, error: ApplicationError)
  /// The daemon refuses this process for good: it is managed no longer.
  func applicationDidLoseRegistration(_ application: ScheduledApplication, error: ApplicationError)
}

extension ApplicationDelegate {
  /// Does nothing.
  public func applicationDidFinishLaunching(
    _ application: ScheduledApplication, reason: LaunchReason
  ) {}
  /// Does nothing.
  public func applicationDidBecomeActive(_ application: ScheduledApplication) {}
  /// Does nothing.
  public func applicationWillResignActive(_ application: ScheduledApplication) {}
  /// Does nothing.
  public func applicationDidEnterBackground(_ application: ScheduledApplication) {}
  /// Does nothing.
  public func applicationWillEnterForeground(_ application: ScheduledApplication) {}
  /// Does nothing.
  public func applicationWillTerminate(_ application: ScheduledApplication) {}
  /// Does nothing.
  public func applicationDidLoseBackgroundTasks(
    _ application: ScheduledApplication, tasks: [BackgroundTaskID]
  ) {}
  /// Does nothing.
  public func application(
    _ application: ScheduledApplication, socketReady socket: ManagedSocket,
    conditions: SocketConditions
  ) {}
  /// Does nothing.
  public func application(
    _ application: ScheduledApplication, systemDidChange changes: [SystemChange]
  ) {}
  /// Does nothing.
  public func applicationDidReceiveMemoryWarning(_ application: ScheduledApplication) {}
  /// Does nothing.
  public func application(
    _ application: ScheduledApplication, didReceive notification: LocalNotification
  ) {}
  /// Does nothing.
  public func application(
    _ application: ScheduledApplication, didChoose notification: LocalNotification
  ) {}
  /// Does nothing.
  public func applicationDidLoseKeepAlive(
    _ application: ScheduledApplication, error: ApplicationError
  ) {}
  /// Does nothing.
  public func applicationDidLoseRegistration(
    _ application: ScheduledApplication, error: ApplicationError
  ) {}
}

/// Where callbacks go.
protocol CallbackSink: Sendable {
  func deliver(_ callback: ApplicationCallback, to application: ScheduledApplication)
  /// The last: `error` is nil where the author closed the application.
  func finish(_ error: ApplicationError?, of application: ScheduledApplication)
}

/// Calls the delegate, and acknowledges when it returns.
struct DelegateSink: CallbackSink {
  let delegate: any ApplicationDelegate

  func deliver(_ callback: ApplicationCallback, to application: ScheduledApplication) {
    application.queue.async {
      tell(callback.event, application)
      callback.acknowledge()
    }
  }

  func finish(_ error: ApplicationError?, of application: ScheduledApplication) {
    guard let error else { return }
    application.queue.async {
      delegate.applicationDidLoseRegistration(application, error: error)
    }
  }

  private func tell(_ event: ApplicationEvent, _ application: ScheduledApplication) {
    switch event {
    case .didFinishLaunching(let reason):
      delegate.applicationDidFinishLaunching(application, reason: reason)
    case .didBecomeActive: delegate.applicationDidBecomeActive(application)
    case .willResignActive: delegate.applicationWillResignActive(application)
    case .didEnterBackground: delegate.applicationDidEnterBackground(application)
    case .willEnterForeground: delegate.applicationWillEnterForeground(application)
    case .willTerminate: delegate.applicationWillTerminate(application)
    case .didLoseBackgroundTasks(let tasks):
      delegate.applicationDidLoseBackgroundTasks(application, tasks: tasks)
    case .socketsReady(let ready):
      for one in ready {
        delegate.application(application, socketReady: one.socket, conditions: one.conditions)
      }
    case .systemDidChange(let changes):
      delegate.application(application, systemDidChange: changes)
    case .didReceiveMemoryWarning: delegate.applicationDidReceiveMemoryWarning(application)
    case .didReceive(let notification):
      delegate.application(application, didReceive: notification)
    case .didChoose(let notification):
      delegate.application(application, didChoose: notification)
    case .didLoseKeepAlive(let error):
      delegate.applicationDidLoseKeepAlive(application, error: error)
    }
  }
}

/// The delegate of an application that has none: acknowledges all.
struct SilentDelegate: ApplicationDelegate {}

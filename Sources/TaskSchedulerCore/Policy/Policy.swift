/// Every limit and quota of the contract, under the name that it has there.
///
/// Units are in the types (`Duration`) or the names. A site changes them in the table `[policy]`
/// of taskschedd.toml; ``problems`` says which relations between them must hold.
public struct Policy: Hashable, Sendable {
  /// Whether this machine runs anything in the background at all. Where false, an application that
  /// is sent away is terminated. Source: contract §2, iOS 4 on devices without multitasking.
  public var multitaskingSupported = true

  /// `CallbackTimeout`: how long an application has to acknowledge each of the six lifecycle
  /// callbacks. Source: contract §3.
  public var callbackTimeout: Duration = .seconds(6)

  /// `TerminateTimeout`: from SIGTERM to SIGKILL. Source: contract §3.
  public var terminateTimeout: Duration = .seconds(5)

  /// `BackgroundTime`: what a background task has, counted from the start of the stint. Source:
  /// contract §4, ten minutes as on iOS 4.
  public var backgroundTime: Duration = .seconds(600)

  /// `ExpirationLead`: how long before the limit the expiration handlers are called. Source: §4.
  public var expirationLead: Duration = .seconds(5)

  /// `LaunchTime`: how long an instance that starts in the background may run before it has opened
  /// its event stream; then it is taken for unaware. Source: this project; iOS ends a
  /// launch that takes 20 s.
  public var launchTime: Duration = .seconds(20)

  /// `SuspendRetryInterval`: after a suspension that could not complete, the time to the next try.
  /// Source: this project.
  public var suspendRetryInterval: Duration = .seconds(10)

  /// `TracerCheckInterval`: while a debugger holds an instance's limits, how often it is looked
  /// whether it has left (the kernel does not tell). Source: this project.
  public var tracerCheckInterval: Duration = .seconds(1)

  /// `WakeTolerance`: a limit that passed longer ago than this when the scheduler gets to it has
  /// passed while the machine slept, and the application with it: it gets the time anew that it has
  /// to answer (a callback's limit, the lead before the end of its background time). Source:
  /// this project; far above any delay of a machine that is awake.
  public var wakeTolerance: Duration = .seconds(2)

  /// `KeepAliveMinimum`: the shortest keep-alive interval. Source: contract §6, as on iOS 4.
  public var keepAliveMinimum: Duration = .seconds(600)

  /// `KeepAliveHandlerTime`: how long an application has to acknowledge the call of its keep-alive
  /// handler. Source: contract §6, as on iOS 4.
  public var keepAliveHandlerTime: Duration = .seconds(30)

  /// `EventTime`: how long an application that was woken by a managed socket may run for it.
  /// Source: contract §7.
  public var eventTime: Duration = .seconds(10)

  /// `RelaunchDelay`: from the end of an application that is to come back to its relaunch; doubled
  /// each time. Source: contract §8.
  public var relaunchDelay: Duration = .seconds(1)

  /// `RelaunchDelayMax`: what that grows to at most. Source: contract §8.
  public var relaunchDelayMax: Duration = .seconds(300)

  /// `RelaunchResetTime`: an application that ran for so long comes back after `RelaunchDelay`
  /// again. Source: contract §8.
  public var relaunchResetTime: Duration = .seconds(600)

  /// `MaxSocketsPerApplication`: sockets that one application has handed over. Source: this
  /// project (§16 asks for a quota); each is a descriptor of the daemon's and of systemd's.
  public var socketsPerApplicationMax = 64

  /// `MaxNotificationsPerApplication`: notifications of one application that wait for their time.
  /// Source: contract §9.
  public var notificationsPerApplicationMax = 128

  /// `MaxNotificationsPerUser`: notifications of all applications of one user that wait for their
  /// time, or have fired and were not shown yet. Source: this project (§16 asks for a quota); each
  /// takes 9 kB of the disk at most.
  public var notificationsPerUserMax = 1024

  /// `MaxCustomChanges`: names of custom system changes that are remembered for the suspended: of
  /// those for everybody, and of each user's own. Source: this project.
  public var customChangesMax = 256

  /// `MaxTasksPerApplication`: background tasks outstanding at a time. Source: contract §4.
  public var tasksPerApplicationMax = 1024

  /// `MaxTasksPerUser`: background tasks outstanding at a time, of all applications of one user.
  /// Source: this project (§16 asks for a quota); a list of as many takes some 30 ms to write.
  public var tasksPerUserMax = 16384

  /// `MaxApplicationsPerUser`: running instances of one user. Source: this project (§16 asks for
  /// a quota).
  public var applicationsPerUserMax = 8192

  /// `MaxQueuedCallbacks`: callbacks that one instance has not acknowledged yet; past it no more
  /// changes of state are asked of it. Source: this project; six seconds of a person's
  /// fastest switching stay far below.
  public var queuedCallbacksMax = 64

  /// `MaxEndedApplications`: applications without a manifest of one user that have ended and are
  /// still remembered, for the switcher and for "why?". Source: this project.
  public var endedApplicationsMax = 64

  /// `MemoryPressureStall`: how long processes must have waited for memory within
  /// `MemoryPressureWindow` before it is pressure. Source: this project, as Android's lmkd has it
  /// (psi_partial_stall_ms = 70 of 1000); systemd asks for 200 ms of 2 s.
  public var memoryPressureStall: Duration = .milliseconds(70)

  /// `MemoryPressureWindow`: see there. The kernel takes 500 ms to 10 s.
  public var memoryPressureWindow: Duration = .seconds(1)

  /// `MemoryWarningTime`: how long pressure must last after the warning before anybody is ended.
  /// Source: this project.
  public var memoryWarningTime: Duration = .seconds(1)

  /// How long before one may be to end the candidates are measured, so that their sizes are known
  /// by then: as long as measuring may take, in two halves (finding the processes, reading of
  /// them). Source: this project; a choice among 500 applications takes less than 100 ms with it.
  /// It is no setting, for the daemon's own budget is made of it.
  public static let memoryMeasuringLead: Duration = .milliseconds(80)

  /// For so long what was measured of one that runs is good for a choice; of one that is suspended
  /// it is for as long as it stays so. Source: this project; triggers that go on come each 100 ms.
  static let memorySizeLife = memoryMeasuringLead * 2

  /// `MemoryQuietTime`: pressure of which nothing was heard for so long is over. Source: this
  /// project; while it lasts, the kernel tells it once in each window.
  public var memoryQuietTime: Duration = .seconds(10)

  /// `MemoryFloorPercent`: where less of the machine's memory is available when a trigger fires,
  /// the whole machine's pressure ends applications; below half of it at once. Source: this
  /// project; earlyoom's default is 10.
  public var memoryFloorPercent = 10

  /// `MemoryPageOut`: whether what suspended applications use is written to swap early, where there
  /// is swap. Source: this project.
  public var memoryPageOut = false

  /// `BackgroundProcessorShare`: how many percent of one processor an application may use in the
  /// background, as an average over `BackgroundUseWindow`; then it is throttled. Source: iOS, whose
  /// monitor ends what uses 80 % over 60 s.
  public var backgroundProcessorShare = 80

  /// `ThrottledProcessorShare`: to how many percent of one processor it is throttled then; whoever
  /// uses four fifths of this for another `BackgroundUseWindow`, or too much again later, is
  /// killed. Source: this project.
  public var throttledProcessorShare = 20

  /// `BackgroundUseWindow`: how long an application runs in the background until it is looked at
  /// what it has used meanwhile, again and again. Source: as `BackgroundProcessorShare`.
  public var backgroundUseWindow: Duration = .seconds(60)

  /// `BackgroundGPUTime`: what GPUs may still do of what was begun in the foreground, before an
  /// application that uses them in the background is killed. Source: this project; three frames.
  public var backgroundGPUTime: Duration = .milliseconds(50)

  public init() {}

  /// The bounds of the limits and the relations that must hold between them, as sentences that say
  /// which do not; empty where all hold. No other policy may be handed to a ``Scheduler``.
  public var problems: [String] {
    let durations: [(String, Duration)] = [
      ("CallbackTimeout", callbackTimeout), ("TerminateTimeout", terminateTimeout),
      ("BackgroundTime", backgroundTime), ("LaunchTime", launchTime),
      ("SuspendRetryInterval", suspendRetryInterval),
      ("TracerCheckInterval", tracerCheckInterval), ("WakeTolerance", wakeTolerance),
      ("KeepAliveMinimum", keepAliveMinimum), ("KeepAliveHandlerTime", keepAliveHandlerTime),
      ("EventTime", eventTime), ("RelaunchDelay", relaunchDelay),
      ("RelaunchResetTime", relaunchResetTime), ("MemoryPressureStall", memoryPressureStall),
      ("MemoryPressureWindow", memoryPressureWindow), ("MemoryWarningTime", memoryWarningTime),
      ("MemoryQuietTime", memoryQuietTime),
      ("BackgroundUseWindow", backgroundUseWindow),
    ]
    let quotas = [
      ("MaxTasksPerApplication", tasksPerApplicationMax),
      ("MaxTasksPerUser", tasksPerUserMax),
      ("MaxApplicationsPerUser", applicationsPerUserMax),
      ("MaxQueuedCallbacks", queuedCallbacksMax),
      ("MaxSocketsPerApplication", socketsPerApplicationMax),
      ("MaxNotificationsPerApplication", notificationsPerApplicationMax),
      ("MaxNotificationsPerUser", notificationsPerUserMax),
      ("MaxCustomChanges", customChangesMax),
      ("BackgroundProcessorShare", backgroundProcessorShare),
      ("ThrottledProcessorShare", throttledProcessorShare),
    ]
    var problems = durations.filter { $0.1 <= .zero }.map { "\($0.0) must be longer than 0" }
    problems += quotas.filter { $0.1 < 1 }.map { "\($0.0) must be at least 1" }
    if endedApplicationsMax < 0 { problems.append("MaxEndedApplications must be at least 0") }
    if expirationLead < .zero { problems.append("ExpirationLead must be at least 0") }
    if expirationLead >= backgroundTime {
      problems.append("ExpirationLead must be shorter than BackgroundTime")
    }
    if keepAliveHandlerTime >= keepAliveMinimum {
      problems.append("KeepAliveHandlerTime must be shorter than KeepAliveMinimum")
    }
    if relaunchDelayMax < relaunchDelay {
      problems.append("RelaunchDelayMax must be at least RelaunchDelay")
    }
    if memoryPressureStall > memoryPressureWindow {
      problems.append("MemoryPressureStall must be at most MemoryPressureWindow")
    }
    if memoryQuietTime <= memoryPressureWindow {
      problems.append("MemoryQuietTime must be longer than MemoryPressureWindow")
    }
    if !(0...100).contains(memoryFloorPercent) {
      problems.append("MemoryFloorPercent must be 0 to 100")
    }
    if backgroundGPUTime < .zero { problems.append("BackgroundGPUTime must be at least 0") }
    if throttledProcessorShare >= min(backgroundProcessorShare, 100) {
      problems.append("ThrottledProcessorShare must be less than BackgroundProcessorShare, and 100")
    }
    return problems
  }
}

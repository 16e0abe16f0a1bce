/// The types that the methods speak of.
extension ControlInterface {
  /// See `ApplicationInterface.State`.
  public typealias State = ApplicationInterface.State

  /// See `ApplicationInterface.LaunchReason`.
  public typealias LaunchReason = ApplicationInterface.LaunchReason

  /// Why an instance ended. Exactly one of these for every end. `unknown`: the kernel does not tell
  /// how; the instance ended while no daemon ran. An operator's or the user's terminate is the
  /// reason also where the daemon had to kill the application because it did not answer.
  public enum EndKind: String, Codable, CaseIterable, Hashable, Sendable {
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

  /// See `ApplicationInterface.CallbackKind`.
  public typealias CallbackKind = ApplicationInterface.CallbackKind

  /// How an instance ended: `code` goes with exited, `signal` (its number) with crashed;
  /// `callback`, the one that was not acknowledged and for which the daemon killed it, with
  /// callbackTimeout, keepAliveTimeout, terminatedByOperator and terminatedByUser; `tasks`, the
  /// number that was outstanding, `task` and `taskName`, the first of them, with
  /// backgroundTimeExpired.
  public struct End: Codable, Hashable, Sendable {
    public var reason: EndKind
    public var code: Int?
    public var signal: Int?
    public var callback: CallbackKind?
    public var tasks: Int?
    public var task: Int?
    public var taskName: String?
    /// The signal that asked it to end (SIGTERM, or the manifest's stop-signal), where it had not
    /// ended within `stopLimitUSec` of it and SIGKILL had to follow.
    public var stopSignal: String?
    public var stopLimitUSec: Int?
    public var atUSec: Int

    public init(
      reason: EndKind, code: Int? = nil, signal: Int? = nil, callback: CallbackKind? = nil,
      tasks: Int? = nil, task: Int? = nil, taskName: String? = nil, stopSignal: String? = nil,
      stopLimitUSec: Int? = nil, atUSec: Int
    ) {
      self.reason = reason
      self.code = code
      self.signal = signal
      self.callback = callback
      self.tasks = tasks
      self.task = task
      self.taskName = taskName
      self.stopSignal = stopSignal
      self.stopLimitUSec = stopLimitUSec
      self.atUSec = atUSec
    }
  }

  /// What entitles an application to run in the background: a background task with time left, an
  /// unacknowledged callback, audio that plays, location updates, an event being handled.
  public enum Entitlement: String, Codable, CaseIterable, Hashable, Sendable {
    case backgroundTask, callback, audio, location, event
  }

  /// See `ApplicationInterface.BackgroundTask`.
  public typealias BackgroundTask = ApplicationInterface.BackgroundTask

  /// A running instance. Its `application` and `owner` are in the Application that holds it.
  public struct Instance: Codable, Hashable, Sendable {
    public var id: Int
    /// The leader's pid. A pid may be reused; compare `startTime` (field 22 of /proc/PID/stat) too.
    public var pid: Int
    public var startTime: Int
    /// True once it has opened its event stream.
    public var aware: Bool
    public var launchReason: LaunchReason
    public var startedAtUSec: Int
    /// Set while it is being ended: why.
    public var ending: EndKind?
    /// True while its processes are being stopped and not all have been seen to be.
    public var suspending: Bool
    /// The application that was activated at its seat and so sent it to the background; null in the
    /// foreground, where something else sent it away, and where the caller may not see it.
    public var displacedBy: String?
    public var entitlements: [Entitlement]
    /// Callbacks sent or waiting and not yet acknowledged.
    public var callbacksPending: Int
    public var backgroundTimeRemainingUSec: Int?
    public var tasks: [BackgroundTask]
    public var keepAlive: KeepAlive?
    /// How many sockets it has handed over.
    public var managedSockets: Int
    /// How many system changes are held for it until it is resumed.
    public var heldChanges: Int
    /// What the rules of the background do to it; null in the foreground.
    public var resources: Resources?
    /// The systemd unit that its leader belongs to; null where it belongs to none. GetApplication
    /// and Explain alone tell it.
    public var unit: String?

    public init(
      id: Int, pid: Int, startTime: Int, aware: Bool, launchReason: LaunchReason,
      startedAtUSec: Int, ending: EndKind? = nil, suspending: Bool, displacedBy: String? = nil,
      entitlements: [Entitlement], callbacksPending: Int, backgroundTimeRemainingUSec: Int? = nil,
      tasks: [BackgroundTask], keepAlive: KeepAlive? = nil, managedSockets: Int,
      heldChanges: Int, resources: Resources? = nil, unit: String? = nil
    ) {
      self.id = id
      self.pid = pid
      self.startTime = startTime
      self.aware = aware
      self.launchReason = launchReason
      self.startedAtUSec = startedAtUSec
      self.ending = ending
      self.suspending = suspending
      self.displacedBy = displacedBy
      self.entitlements = entitlements
      self.callbacksPending = callbacksPending
      self.backgroundTimeRemainingUSec = backgroundTimeRemainingUSec
      self.tasks = tasks
      self.keepAlive = keepAlive
      self.managedSockets = managedSockets
      self.heldChanges = heldChanges
      self.resources = resources
      self.unit = unit
    }
  }

  /// How an instance is treated in the background, and what it was found to do there.
  public struct Resources: Codable, Hashable, Sendable {
    /// What of its processes' priorities was lowered, and what could not be, in words.
    public var lowered: [String]
    /// To how many percent of one processor it is throttled.
    public var throttledPercent: Int?
    /// The addresses that it listened on when it was last suspended: the first ten.
    public var listening: [String]
    /// How many addresses it listened on.
    public var listeningCount: Int
    /// Whether all descriptors of its processes were examined when it was last suspended. If not,
    /// locks on shared files and listening sockets may have been missed.
    public var descriptorsExamined: Bool

    public init(
      lowered: [String], throttledPercent: Int? = nil, listening: [String],
      listeningCount: Int? = nil, descriptorsExamined: Bool = true
    ) {
      self.lowered = lowered
      self.throttledPercent = throttledPercent
      self.listening = listening
      self.listeningCount = listeningCount ?? listening.count
      self.descriptorsExamined = descriptorsExamined
    }
  }

  /// A keep-alive handler.
  public struct KeepAlive: Codable, Hashable, Sendable {
    public var intervalUSec: Int
    /// null was not called yet.
    public var lastRunUSec: Int?
    /// By when it must be called.
    public var deadlineUSec: Int
    /// The burst in which it will be, as things stand.
    public var plannedUSec: Int

    public init(intervalUSec: Int, lastRunUSec: Int? = nil, deadlineUSec: Int, plannedUSec: Int) {
      self.intervalUSec = intervalUSec
      self.lastRunUSec = lastRunUSec
      self.deadlineUSec = deadlineUSec
      self.plannedUSec = plannedUSec
    }
  }

  /// A launch that nobody asks for: after an end that neither the application (exit code 0) nor a
  /// person chose, or after a launch that failed.
  public struct NextLaunch: Codable, Hashable, Sendable {
    public var atUSec: Int
    /// How long that waits after the end, or after the launch that failed.
    public var delayUSec: Int
    /// True while it also waits until memory pressure is over: the application was ended for
    /// memory.
    public var awaitsMemory: Bool

    public init(atUSec: Int, delayUSec: Int, awaitsMemory: Bool) {
      self.atUSec = atUSec
      self.delayUSec = delayUSec
      self.awaitsMemory = awaitsMemory
    }
  }

  /// A launch that failed: which step failed and why, and when.
  public struct LaunchFailure: Codable, Hashable, Sendable {
    public var reason: String
    public var atUSec: Int

    public init(reason: String, atUSec: Int) {
      self.reason = reason
      self.atUSec = atUSec
    }
  }

  /// An application, running or not.
  public struct Application: Codable, Hashable, Sendable {
    public var application: String
    /// The uid that it runs as.
    public var owner: Int
    /// A name for people, from the manifest.
    public var displayName: String?
    public var state: State
    public var stateSinceUSec: Int
    /// Where it is in front of a person, with one application in front at a time. The manifest's
    /// `seat`; else that of a controlling terminal; else a default.
    public var seat: String
    public var backgroundModes: [String]
    /// False where the manifest opts out of multitasking.
    public var multitasking: Bool
    /// True where a manifest says how to launch it.
    public var launchable: Bool
    /// Place in the application switcher: 1 is the one most recently active; null if never active.
    public var switcherPosition: Int?
    public var instance: Instance?
    public var lastEnd: End?
    /// How its last launch failed; null where it has run since.
    public var launchFailure: LaunchFailure?
    public var nextLaunch: NextLaunch?
    /// The process that an earlier daemon let go when it stopped, where it runs on: no daemon
    /// manages it.
    public var unmanagedPID: Int?
    /// How many notifications wait for their time.
    public var scheduledNotifications: Int
    public var badge: Int?
    /// What the daemon could not do to its processes, and tries again.
    public var problem: String?

    public init(
      application: String, owner: Int, displayName: String? = nil, state: State,
      stateSinceUSec: Int, seat: String, backgroundModes: [String], multitasking: Bool,
      launchable: Bool, switcherPosition: Int? = nil, instance: Instance? = nil,
      lastEnd: End? = nil, launchFailure: LaunchFailure? = nil, nextLaunch: NextLaunch? = nil,
      unmanagedPID: Int? = nil, scheduledNotifications: Int, badge: Int? = nil,
      problem: String? = nil
    ) {
      self.application = application
      self.owner = owner
      self.displayName = displayName
      self.state = state
      self.stateSinceUSec = stateSinceUSec
      self.seat = seat
      self.backgroundModes = backgroundModes
      self.multitasking = multitasking
      self.launchable = launchable
      self.switcherPosition = switcherPosition
      self.instance = instance
      self.lastEnd = lastEnd
      self.launchFailure = launchFailure
      self.nextLaunch = nextLaunch
      self.unmanagedPID = unmanagedPID
      self.scheduledNotifications = scheduledNotifications
      self.badge = badge
      self.problem = problem
    }
  }

  /// See `ApplicationInterface.RepeatInterval`.
  public typealias RepeatInterval = ApplicationInterface.RepeatInterval

  /// See `ApplicationInterface.NotificationSchedule`.
  public typealias NotificationSchedule = ApplicationInterface.NotificationSchedule

  /// See `ApplicationInterface.NotificationContent`.
  public typealias NotificationContent = ApplicationInterface.NotificationContent

  /// See `ApplicationInterface.NotificationState`.
  public typealias NotificationState = ApplicationInterface.NotificationState

  /// See `ApplicationInterface.Notification`.
  public typealias Notification = ApplicationInterface.Notification

  /// A notification, and whose it is.
  public struct ApplicationNotification: Codable, Hashable, Sendable {
    public var application: String
    public var owner: Int
    public var notification: Notification

    public init(application: String, owner: Int, notification: Notification) {
      self.application = application
      self.owner = owner
      self.notification = notification
    }
  }

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
  /// - `resources`: an application broke a rule of the background, is throttled, or was suspended
  ///   with a socket on which it listens
  public enum ChangeKind: String, Codable, CaseIterable, Hashable, Sendable {
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
    case resources
  }

  /// One change. `message` says it in one line for people; the other fields for programs.
  public struct Change: Codable, Hashable, Sendable {
    public var kind: ChangeKind
    public var atUSec: Int
    public var application: String
    public var owner: Int
    public var pid: Int?
    public var from: State?
    public var to: State?
    /// What brought it about: launch, activate, acknowledged, interruption, sendAway,
    /// otherActivated, register, terminate, noEntitlement, event, leaderExited, …
    public var cause: String?
    /// With otherActivated: the application that was activated; null where the caller may not see
    /// it.
    public var by: String?
    public var reason: String?
    public var task: Int?
    public var taskName: String?
    public var message: String

    public init(
      kind: ChangeKind, atUSec: Int, application: String, owner: Int, pid: Int? = nil,
      from: State? = nil, to: State? = nil, cause: String? = nil, by: String? = nil,
      reason: String? = nil, task: Int? = nil, taskName: String? = nil, message: String
    ) {
      self.kind = kind
      self.atUSec = atUSec
      self.application = application
      self.owner = owner
      self.pid = pid
      self.from = from
      self.to = to
      self.cause = cause
      self.by = by
      self.reason = reason
      self.task = task
      self.taskName = taskName
      self.message = message
    }
  }

  /// One effective setting and where it came from: a file and line, or "default".
  public struct Setting: Codable, Hashable, Sendable {
    public var name: String
    public var value: String
    public var `default`: String
    public var source: String

    public init(name: String, value: String, default: String, source: String) {
      self.name = name
      self.value = value
      self.default = `default`
      self.source = source
    }
  }
}

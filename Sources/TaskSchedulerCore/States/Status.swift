// The queries of the scheduler. A query changes nothing.

/// The status of an application, running or not.
public struct ApplicationStatus: Hashable, Sendable {
  public var key: ApplicationKey
  public var displayName: String?
  public var state: ApplicationState
  public var stateSince: Instant
  public var seat: SeatID?
  public var backgroundModes: [BackgroundMode]
  public var multitasking: Bool
  public var isLaunchable: Bool
  /// The position in the switcher: 1 is the most recently active; nil was never active.
  public var switcherPosition: Int?
  public var instance: InstanceStatus?
  public var lastEnd: End?
  /// How the last launch failed; nil if the application has run since.
  public var launchFailure: LaunchFailure?
  /// The next automatic launch.
  public var nextLaunch: NextLaunch?
  /// How many notifications wait for their time.
  public var scheduledNotifications: Int
}

/// A launch after an end that neither the application nor a person chose, or after a launch that
/// failed.
public struct NextLaunch: Hashable, Sendable {
  public var at: Instant
  /// The delay between the end, or the failed launch, and this launch.
  public var delay: Duration
  /// Whether the launch waits until memory pressure is over.
  public var awaitsMemory: Bool
}

/// The status of a running instance.
public struct InstanceStatus: Hashable, Sendable {
  public var id: InstanceID
  public var leader: Leader
  public var isAware: Bool
  public var launchReason: LaunchReason
  public var startedAt: Instant
  /// The reason of the end under way.
  public var ending: EndReason?
  public var isSuspending: Bool
  /// The application that displaced this one at its seat; nil in the foreground, and if something
  /// else sent this one to the background.
  public var displacedBy: ApplicationKey?
  public var entitlements: [Entitlement]
  public var callbacksPending: Int
  /// The rest of the background time; nil is unlimited.
  public var timeRemaining: Duration?
  public var tasks: [BackgroundTask]
  public var keepAlive: KeepAliveStatus?
  public var managedSockets: Int
  /// How many system changes are held until the instance is resumed.
  public var heldChanges: Int
  public var priority: ProcessPriority
  /// The percentage of one CPU to which the instance is throttled; nil if it is not.
  public var throttledTo: Int?
  /// The addresses on which the instance listened when it was last suspended.
  public var listening: ListeningReport
}

/// The status of a keep-alive handler.
public struct KeepAliveStatus: Hashable, Sendable {
  public var keepAlive: KeepAlive
  /// When the burst that calls the handler is planned, if nothing changes.
  public var planned: Instant
}

extension Scheduler {
  /// Returns the status of every application: in the order of the switcher, then those never
  /// active, by id.
  public func statuses(at now: Instant) -> [ApplicationStatus] {
    let switcher = applications.switcher
    let rest = applications.all.filter { $0.activation == 0 }.map(\.key)
    let recent = switcher.enumerated().compactMap { status($1, position: $0 + 1, at: now) }
    return recent + rest.compactMap { status($0, position: nil, at: now) }
  }

  /// Returns the status of an application, or nil if the application is unknown.
  public func status(of key: ApplicationKey, at now: Instant) -> ApplicationStatus? {
    status(key, position: applications.switcher.firstIndex(of: key).map { $0 + 1 }, at: now)
  }

  /// The launches whose program has not been executed yet.
  public var launching: [InstanceID] { launches.keys.sorted() }

  /// The running instances.
  public var running: [InstanceID] { instances.keys.sorted() }

  /// The manifests in force, ordered by their ids.
  public var manifests: [Manifest] { applications.allManifests }

  /// Returns the owners of the applications with an id.
  public func owners(of id: ApplicationID) -> [UserID] {
    applications.owners(of: id)
  }

  /// Returns the names of the applications of a user, in order.
  public func names(of owner: UserID) -> [String] {
    applications.names(of: owner)
  }

  /// Returns the application of an instance, or nil if the instance has ended.
  public func application(of id: InstanceID) -> ApplicationKey? {
    instances[id]?.application
  }

  /// Returns the sockets that an instance has handed over, in that order.
  public func sockets(of id: InstanceID) -> [SocketID] {
    instances[id]?.sockets.ids ?? []
  }

  /// The notifications of all applications that wait for their time, ordered by id.
  public var waitingNotifications: [NotificationID] { notifications.waiting }

  /// Returns the status of an instance, or nil if the instance has ended.
  public func instanceStatus(_ id: InstanceID, at now: Instant) -> InstanceStatus? {
    instances[id].map { status($0, at: now) }
  }

  /// How many instances run, and how many of them are suspended.
  public var runningCounts: (all: Int, suspended: Int) {
    (instances.count, instances.values.count { $0.state == .suspended })
  }

  /// Returns the state of an instance; `notRunning` once it has ended.
  public func state(of id: InstanceID) -> ApplicationState {
    instances[id]?.state ?? .notRunning
  }

  private func status(
    _ key: ApplicationKey, position: Int?, at now: Instant
  ) -> ApplicationStatus? {
    guard let application = applications[key] else { return nil }
    let instance = application.instance.flatMap { instances[$0] }
    let manifest = application.manifest
    return ApplicationStatus(
      key: key, displayName: manifest?.displayName, state: instance?.state ?? .notRunning,
      stateSince: instance?.stateSince ?? application.lastEnd?.at ?? Instant(nanoseconds: 0),
      seat: instance?.seat ?? manifest?.seat,
      backgroundModes: instance?.backgroundModes ?? manifest?.backgroundModes ?? [],
      multitasking: instance?.mayStayInBackground ?? manifest?.multitasking ?? true,
      isLaunchable: manifest.map { $0.isLaunchable && $0.launchKey == key } ?? false,
      switcherPosition: position, instance: instance.map { status($0, at: now) },
      lastEnd: application.lastEnd, launchFailure: application.launchFailure,
      nextLaunch: application.relaunch.flatMap { relaunch in
        guard let at = relaunch.dueAt, let delay = relaunch.delay else { return nil }
        return NextLaunch(at: at, delay: delay, awaitsMemory: isHeldByMemory(relaunch))
      },
      scheduledNotifications: notifications.count(of: key))
  }

  private func status(_ instance: Instance, at now: Instant) -> InstanceStatus {
    InstanceStatus(
      id: instance.id, leader: instance.leader, isAware: instance.isAware,
      launchReason: instance.launchReason, startedAt: instance.startedAt,
      ending: instance.termination?.reason,
      isSuspending: instance.suspension == .stopping && instance.state != .suspended,
      displacedBy: instance.reasons.displacedBy,
      entitlements: instance.entitlements(policy, at: now),
      callbacksPending: instance.callbacks.count,
      timeRemaining: instance.timeRemaining(policy, at: now), tasks: instance.tasks.inOrder,
      keepAlive: keepAlives[instance.id].map { keepAlive in
        KeepAliveStatus(
          keepAlive: keepAlive,
          planned: keepAlives.plannedBurst(of: instance.id) ?? keepAlive.deadline)
      },
      managedSockets: instance.sockets.ids.count,
      heldChanges: instance.state == .suspended ? instance.heldChanges(changes).count : 0,
      priority: ProcessPriority(instance.state), throttledTo: instance.rules.throttledTo,
      listening: instance.rules.listening)
  }
}

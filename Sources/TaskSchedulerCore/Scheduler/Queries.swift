// The queries of the scheduler, which change nothing.

extension Scheduler {
  /// Returns whether an application runs or is being launched.
  public func isRunning(_ key: ApplicationKey) -> Bool {
    applications[key].map { $0.instance != nil || $0.launching != nil } ?? false
  }

  /// Returns the status of every application. Applications in the application switcher come first,
  /// in the order of the switcher; the others follow, ordered by id.
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
  public var launching: [InstanceID] { launches.sortedKeys }

  /// The running instances.
  public var running: [InstanceID] { instances.keys.sorted() }

  /// The manifests in force, ordered by their ids.
  public var manifests: [Manifest] { applications.allManifests }

  /// Returns the users that own an application with the id.
  public func owners(of id: ApplicationID) -> [UserID] {
    applications.owners(of: id)
  }

  /// Returns the names of the applications of a user, sorted.
  public func names(of owner: UserID) -> [String] {
    applications.names(of: owner)
  }

  /// Returns the application of an instance, or nil if the instance has ended.
  public func application(of id: InstanceID) -> ApplicationKey? {
    instances[id]?.application
  }

  /// Returns the managed sockets of an instance, in the order in which the application passed them
  /// to the daemon.
  public func sockets(of id: InstanceID) -> [SocketID] {
    instances[id]?.sockets.ids ?? []
  }

  /// The waiting notifications of all applications, ordered by id.
  public var waitingNotifications: [NotificationID] { notifications.waiting }

  /// The seats whose screen is locked. The list omits a seat within another locked seat.
  public var lockedSeats: [SeatID] {
    let seats = sessions.locks.keys
    return seats.filter { seat in !seats.contains { $0 != seat && $0.contains(seat) } }.sorted()
  }

  /// The seats that are locked only because of a request to logind; see
  /// ``SessionEvent/locked(_:byRequest:)``.
  public var seatsLockedByRequest: [SeatID] {
    lockedSeats.filter { sessions.locks[$0]?.isRequest == true }
  }

  /// The calls of the machine's modems, ordered by id; see ``SessionEvent/modemCalls(_:)``.
  public var modemCalls: [ModemCall] { calls.ofModems }

  /// Returns the status of an instance, or nil if the instance has ended.
  public func instanceStatus(_ id: InstanceID, at now: Instant) -> InstanceStatus? {
    instances[id].map { status($0, at: now) }
  }

  /// The users whose session agents report the windows of their sessions.
  public var reportingUsers: [UserID] {
    sessions.agents.filter { $0.value == .attached }.sortedKeys
  }

  /// The users whose session agents report the streams of their audio servers.
  public var audioReportingUsers: [UserID] {
    sessions.audio.filter { $0.value.agent == .attached }.sortedKeys
  }

  /// Returns one of the given instances for each seat: the active instance, otherwise one in the
  /// foreground, otherwise the instance that was active last.
  public func inFront(_ ids: [InstanceID]) -> [InstanceID] {
    var front: [SeatID: (rank: Int, activation: UInt64, id: InstanceID)] = [:]
    for id in ids {
      guard let instance = instances.boxes[id]?.value else { continue }
      let rank = instance.isActiveOrActivating ? 2 : instance.state.isForeground ? 1 : 0
      let place = (
        rank: rank, activation: applications[instance.application]?.activation ?? 0, id: id)
      if let other = front[instance.seat], other > place { continue }
      front[instance.seat] = place
    }
    return front.values.map(\.id).sorted()
  }

  /// The number of all instances, and the number of suspended instances.
  public var runningCounts: (all: Int, suspended: Int) {
    (instances.count, instances.values.count { $0.state == .suspended })
  }

  /// Returns the state of an instance, or `notRunning` if the instance has ended.
  public func state(of id: InstanceID) -> ApplicationState {
    instances.boxes[id]?.value.state ?? .notRunning
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
      switcherPosition: position, snapshot: snapshots[key],
      instance: instance.map { status($0, at: now) },
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
      isSuspending: instance.stint?.suspension == .stopping,
      displacedBy: instance.reasons.displacedBy,
      entitlements: instance.entitlements(policy, at: now),
      callbacksPending: instance.callbacks.count,
      timeRemaining: instance.timeRemaining(policy, at: now), tasks: instance.tasks.all,
      keepAlive: keepAlives[instance.id].map { keepAlive in
        KeepAliveStatus(
          keepAlive: keepAlive,
          planned: keepAlives.plannedBurst(of: instance.id) ?? keepAlive.deadline)
      },
      managedSockets: instance.sockets.ids.count,
      heldChanges: instance.state == .suspended ? instance.heldChanges(changes).count : 0,
      priority: instance.priority(in: instance.state),
      throttledTo: instance.stint?.use?.throttledTo, listening: instance.listening,
      audio: audioUse(of: instance))
  }

  private func audioUse(of instance: Instance) -> AudioUse {
    guard var use = instance.audio?.use else { return AudioUse() }
    use.isOnHold = calls.held.contains(instance.id)
    if use.isDucked { use.ducker = ducker(of: instance.application.owner) }
    return use
  }
}

extension Scheduler {
  /// Returns the explanation of an application's state, or nil if the application is unknown.
  public func explanation(of key: ApplicationKey) -> Explanation? {
    guard let application = applications[key] else { return nil }
    guard let instance = application.instance.flatMap({ instances[$0] }) else {
      // Without multitasking, the scheduler postpones relaunches.
      let relaunch = policy.multitaskingSupported ? application.relaunch : nil
      let kind: Limit.Kind =
        relaunch.map(isHeldByMemory) == true ? .relaunchAfterPressure : .relaunch
      return Explanation(
        cause: application.lastEnd == nil ? nil : .leaderExited, isTraced: false,
        limits: relaunch?.dueAt.map { [Limit(kind: kind, at: $0)] } ?? [],
        end: application.lastEnd?.detail)
    }
    var limits = instance.limits(policy).filter {
      // These limits have no effect on an instance without tasks.
      !instance.tasks.isEmpty || ($0.kind != .expiration && $0.kind != .backgroundTime)
    }
    if instance.termination == nil, let planned = keepAlives.plannedBurst(of: instance.id) {
      limits.append(Limit(kind: .keepAlive, at: planned))
    }
    return Explanation(
      cause: instance.reasons.cause,
      lastEntitlement: instance.state.isForeground ? nil : instance.reasons.lastEntitlement,
      isTraced: instance.isTraced, limits: limits.sorted { $0.at < $1.at },
      window: instance.window.flatMap { window in
        window.visibility.map { WindowStatus(visibility: $0, since: window.since) }
      },
      end: instance.termination?.detail)
  }
}

extension Scheduler {
  /// The state of the procedure for memory pressure.
  public var memoryStatus: MemoryStatus {
    let pressedAt = memory.episodeLast == 0 ? nil : memory.pressedAt
    switch memory.phase {
    case .calm: return MemoryStatus(phase: .calm, pressedAt: pressedAt)
    case .warned: return MemoryStatus(phase: .warned, pressedAt: pressedAt)
    case .measuring: return MemoryStatus(phase: .measuring, pressedAt: pressedAt)
    case .ending(let id, _):
      return MemoryStatus(phase: .ending, pressedAt: pressedAt, ending: id)
    case .reclaiming(let id, _):
      return MemoryStatus(phase: .reclaiming, pressedAt: pressedAt, ending: id)
    }
  }
}

/// The state machine of the contract: takes events and returns effects.
///
/// The scheduler uses no clock, no random numbers and no I/O. The same events at the same instants
/// have the same effects in the daemon, in a simulation and in a replay.
public struct Scheduler: Sendable {
  public internal(set) var policy: SharedPolicy
  var applications = Applications()
  var instances = BoxedDictionary<InstanceID, Instance>()
  var launches: [InstanceID: PendingLaunch] = [:]
  var seats = Seats()
  var deadlines = Deadlines<InstanceID>()
  var relaunches = RelaunchDeadlines()
  var keepAlives = KeepAlivePlanner()
  var notifications = Notifications()
  var changes = SystemChanges()
  var memory = Memory()
  var sessions = Sessions()
  var snapshots = Snapshots()
  var calls = Calls()
  var location = LocationServices()
  var instanceIDLast: UInt64 = 0
  /// Whether the scheduler has received ``SchedulerEvent/started``, and has not received
  /// ``SchedulerEvent/stop`` since then.
  public internal(set) var isStarted = false

  public init(policy: Policy = Policy()) {
    self.policy = SharedPolicy(policy)
  }

  /// The instant at which the caller must send ``SchedulerEvent/deadlineReached``; nil if there is
  /// no deadline.
  public var nextDeadline: Instant? {
    let memoryDeadline = memory.deadline(policy)
    let sessionDeadline = earlier(
      sessions.firstLoss?.advanced(by: policy.sessionGraceTime),
      earlier(sessions.nextRead(policy), sessions.nextAudioEnd))
    return earlier(
      earlier(deadlines.next, sessionDeadline),
      earlier(nextRelaunch, earlier(memoryDeadline, earlier(nextLook, nextWakeUp))))
  }

  /// The instant at which a sleeping machine must wake, for a keep-alive handler, a notification or
  /// a look at the location; nil if the machine may sleep.
  public var nextWakeUp: Instant? {
    earlier(nextLookDue, earlier(keepAlives.nextBurst, notifications.nextDue))
  }

  /// Handles an event. Returns its effects, in the order in which the caller must carry them out.
  ///
  /// This is the only way to change the scheduler.
  public mutating func handle(_ event: Event, at now: Instant) -> [Effect] {
    var turn = Turn(
      policy: policy, instant: now, changes: changes, memoryEpisode: memory.episode)
    switch event {
    case .application(let event): handle(event, in: &turn)
    case .operation(let event): handle(event, in: &turn)
    case .process(let event): handle(event, in: &turn)
    case .scheduler(let event): handle(event, in: &turn)
    case .socket(let event): handle(event, in: &turn)
    case .notification(let event): handle(event, in: &turn)
    case .systemChanged(let request, let change, let owner):
      systemChanged(request, change, for: owner, in: &turn)
    case .memory(let event): handle(event, in: &turn)
    case .resources(let event): handle(event, in: &turn)
    case .session(let event): handle(event, in: &turn)
    case .switcher(let event): handle(event, in: &turn)
    case .location(let event): handle(event, in: &turn)
    }
    updateLocationNeeds(in: &turn)
    confirmAudioOrders(in: &turn)
    return turn.takeEffects()
  }

  private mutating func handle(_ event: SchedulerEvent, in turn: inout Turn) {
    switch event {
    case .deadlineReached:
      // The scheduler handles disconnected agents first. Otherwise, it could enforce limits because
      // of reports that are no longer valid.
      sessionsDue(in: &turn)
      readsDue(in: &turn)
      audioSessionsDue(in: &turn)
      while let id = deadlines.popDue(at: turn.instant) {
        updateInstance(id, in: &turn) { instance, turn in
          instance.measureIfDue(in: &turn)
          instance.deadlinePassed(in: &turn)
        }
      }
      // Memory comes first: once pressure has ended, it no longer delays relaunches.
      memoryDue(in: &turn)
      relaunchDue(in: &turn)
      looksDue(in: &turn)
      notificationsDue(in: &turn)
      runKeepAlives(in: &turn)
    case .clockRead(let wall):
      notifications.readClock(wall, at: turn.instant)
      notificationsDue(in: &turn)
    case .policyChanged(let policy):
      changePolicy(policy, in: &turn)
    case .manifestsChanged(let manifests):
      applications.replaceManifests(manifests, keeping: policy.endedApplicationsMax)
      reconsiderRelaunches()
      reconsiderLocation(in: &turn)
      reconsiderSwitcher(in: &turn)
    case .started:
      started(in: &turn)
    case .stop:
      stop(in: &turn)
    case .recovered:
      recovered(in: &turn)
    }
  }

  /// Changes an instance in place, and updates its deadline, its seat and the number of tasks. A
  /// terminating instance releases its seat.
  ///
  /// If the instance has ended, the function has no effect.
  mutating func updateInstance(
    _ id: InstanceID, in turn: inout Turn, _ change: (inout Instance, inout Turn) -> Void
  ) {
    guard let index = instances.index(forKey: id) else { return }
    updateInstance(id, at: index, in: &turn, change)
  }

  private mutating func updateInstance(
    _ id: InstanceID, at index: BoxedDictionary<InstanceID, Instance>.Index, in turn: inout Turn,
    _ change: (inout Instance, inout Turn) -> Void
  ) {
    // Changes the instance in place, because it is large, and almost every event changes one.
    let outcome = instances.values[index].change(in: &turn, change)
    applications.taskCountChanged(by: outcome.tasksAdded, of: outcome.application.owner)
    if outcome.becameActive { applications.becameActive(outcome.application) }
    if let seat = outcome.seatEntered { seats.enter(seat, id) }
    if let seat = outcome.seatLeft { seats.leave(seat, id) }
    if outcome.isEnding { keepAlives.remove(id) }
    deadlines.set(id, to: outcome.deadline)
  }

  /// Changes an instance because of a request. If the instance has ended, refuses the request.
  mutating func updateInstance(
    _ id: InstanceID, orRefuse request: RequestID, in turn: inout Turn,
    _ change: (inout Instance, inout Turn) -> Void
  ) {
    guard let index = instances.index(forKey: id) else {
      return turn.reply(request, .refused(.invalidState(.notRunning)))
    }
    updateInstance(id, at: index, in: &turn, change)
  }

  private mutating func changePolicy(_ policy: Policy, in turn: inout Turn) {
    self.policy = SharedPolicy(policy)
    turn.policy = self.policy
    for id in instances.keys.sorted() {
      updateInstance(id, in: &turn) { instance, turn in
        instance.stint?.time.endIfOver(turn.policy, at: turn.instant)
        instance.reconsider(in: &turn)
      }
    }
  }

  /// Resumes and releases every process.
  private mutating func stop(in turn: inout Turn) {
    isStarted = false
    memory.endPressure()
    forgetCalls(in: &turn)
    for key in relaunches.all { cancelRelaunch(key) }
    for id in launches.sortedKeys {
      spawnFailed(id, reason: "the scheduler stops", in: &turn)
    }
    for id in instances.keys.sorted() {
      leaveRunning(id, .schedulerStopped, cause: .schedulerStopped, in: &turn)
    }
    dropSnapshots(in: &turn)
  }

  /// Ends the management of an instance, whose processes continue to run.
  mutating func leaveRunning(
    _ id: InstanceID, _ reason: EndReason, cause: TransitionCause, detail: EndDetail? = nil,
    in turn: inout Turn
  ) {
    guard let instance = instances.removeValue(forKey: id) else { return }
    deadlines.set(id, to: nil)
    keepAlives.remove(id)
    applications.taskCountChanged(by: -instance.tasks.count, of: instance.application.owner)
    instanceOfMemoryEnded(id, in: &turn)
    let end = instance.leaveRunning(reason, cause: cause, detail: detail, in: &turn)
    restoreAudio(of: instance, in: &turn)
    forgetPlayer(instance, in: &turn)
    audioOwnerEnded(instance, in: &turn)
    forgetUpdates(of: instance)
    if instance.termination?.reason.isOrdered == true {
      applications.change(instance.application) { $0.relaunch = Relaunch(isBarred: true) }
    }
    seats.leave(instance.seat, id)
    applications.ended(instance.application, end, keeping: policy.endedApplicationsMax)
    leaveSwitcherIfGone(instance.application, in: &turn)
  }
}

extension Instance {
  /// The consequences of an instance's change for the rest of the scheduler.
  fileprivate struct ChangeOutcome {
    var tasksAdded: Int
    var application: ApplicationKey
    var becameActive: Bool
    /// The seat whose foreground the instance enters; nil if it enters none.
    var seatEntered: SeatID?
    /// The seat whose foreground the instance leaves, for example because its termination begins.
    var seatLeft: SeatID?
    var isEnding: Bool
    var deadline: Instant?
  }

  fileprivate mutating func change(
    in turn: inout Turn, _ change: (inout Instance, inout Turn) -> Void
  ) -> ChangeOutcome {
    let taskCount = tasks.count
    let wasActive = state == .active
    let hadSeat = isAtSeat
    change(&self, &turn)
    adjustAudio(in: &turn)
    let hasSeat = isAtSeat
    return ChangeOutcome(
      tasksAdded: tasks.count - taskCount, application: application,
      becameActive: state == .active && !wasActive,
      seatEntered: hasSeat && !hadSeat ? seat : nil,
      seatLeft: hadSeat && !hasSeat ? seat : nil, isEnding: termination != nil,
      deadline: deadline(turn.policy))
  }
}

import Testing

@testable import TaskSchedulerCore

/// A simulated world that carries out the scheduler's effects in a test.
///
/// The world calls `checkInvariants()` after every event. Each answer to an effect depends on a
/// property of the world. Most of these properties have the type ``Answer``.
struct World {
  /// When and how the world answers an effect.
  enum Answer { case atOnce, never, failing }

  var scheduler: Scheduler
  private(set) var now = Instant(nanoseconds: 1_000_000_000_000)
  /// All effects since the last ``forget()``, in order.
  private(set) var effects: [Effect] = []

  var suspending = Answer.atOnce
  var spawning = Answer.atOnce
  var tracerChecking = Answer.atOnce
  var killing = Answer.atOnce
  var storing = Answer.atOnce
  var measuring = Answer.atOnce
  var reclaiming = Answer.atOnce
  /// Whether the session agent carries out orders to change mutes or volumes. The agent reports the
  /// streams after each change.
  var muting = Answer.atOnce
  /// The number of the last order to confirm all earlier orders that the agent has carried out.
  var confirmed: UInt64 = 0
  /// The streams of the audio server of the user 1000.
  var streams: [AudioStream] = []
  /// Whether the audio server itself lowers and pauses streams by their roles.
  var serverManagesRoles = false
  /// The private memory of instances, in MiB; 1 by default.
  var dirty: [InstanceID: UInt64] = [:]
  /// The available memory of the machine, in MiB. The machine has 1000 MiB.
  var available: UInt64 = 500
  /// Whether processes exit at once on SIGTERM.
  var obeysTerminate = false
  /// The CPU and GPU time that instances use, each as a fraction of the elapsed time.
  var rates: [InstanceID: (processor: Double, gpu: Double)] = [:]
  private var accounts: [InstanceID: (at: Instant, processor: Double, gpu: Double)] = [:]
  /// The instances that a debugger traces.
  var traced: Set<InstanceID> = []

  private var requestLast: UInt64 = 0
  private var pidLast: Int32 = 100
  private var socketLast: UInt64 = 0
  private(set) var inFlight: [InstanceID: Callback] = [:]

  init(_ change: (inout Policy) -> Void = { _ in }) {
    var policy = Policy()
    change(&policy)
    scheduler = Scheduler(policy: policy)
  }

  // MARK: Events

  /// Feeds one event and all answers that follow from it.
  @discardableResult
  mutating func feed(_ event: Event) -> [Effect] {
    var caused: [Effect] = []
    var events = [event]
    while !events.isEmpty {
      let fresh = scheduler.handle(events.removeFirst(), at: now)
      scheduler.checkInvariants()
      caused += fresh
      for effect in fresh {
        if let answer = answer(to: effect) { events.append(answer) }
      }
    }
    effects += caused
    return caused
  }

  private mutating func answer(to effect: Effect) -> Event? {
    switch effect {
    case .deliver(let id, let callback, _):
      inFlight[id] = callback
      return nil
    case .spawn(let id, _, _):
      return answer(
        spawning, .process(.spawned(id, newLeader())),
        .process(.spawnFailed(id, reason: "no such file")))
    case .suspend(let id):
      return answer(
        suspending, .process(.suspensionCompleted(id)),
        .process(.suspensionFailed(id, reason: "a thread runs")))
    case .terminate(let id, _):
      return obeysTerminate ? .process(.leaderExited(id, .exited(code: 0))) : nil
    case .kill(let id):
      return answer(
        killing, .process(.leaderExited(id, .signaled(9))),
        .process(.signalFailed(id, reason: "EPERM")))
    case .checkTracer(let id):
      let checked = Event.process(.tracerChecked(id, isTraced: traced.contains(id)))
      return answer(tracerChecking, checked, checked)
    case .notification(.store(let id, _)):
      return answer(
        storing, .notification(.stored(id)), .notification(.storeFailed(id, reason: "ENOSPC")))
    case .notification(.findNext(let id, _)):
      return .notification(.nextFound(id, wall.map { $0.advanced(by: .seconds(60)) }))
    case .memory(let effect):
      return answer(to: effect)
    case .resources(.sample(let id)):
      return .resources(.used(id, use(of: id)))
    case .audio(.mute(_, let ids)): return setMuted(ids, true)
    case .audio(.unmute(_, let ids)): return setMuted(ids, false)
    case .audio(.setVolume(_, let changes)): return setVolumes(changes)
    case .audio(.confirm(let user, let number)): return confirm(number, of: user)
    case .audio(.measure), .audio(.stopMeasuring), .audio(.showRecording), .audio(.hideRecording):
      return nil
    case .location(.store(let id, _, _)):
      return answer(
        storing, .location(.stored(id)), .location(.storeFailed(id, reason: "ENOSPC")))
    case .reply, .expire, .notify, .socket, .notification, .manage, .resume, .release, .record,
      .resources, .dropPicture, .remote, .location:
      return nil
    }
  }

  private func answer(to effect: MemoryEffect) -> Event? {
    switch effect {
    case .read: return .memory(.read(reading))
    case .measure(let ids):
      let sizes = ids.map { MemorySize($0, dirty: (dirty[$0] ?? 1) << 20, total: 64 << 20) }
      return measuring == .atOnce ? .memory(.measured(sizes)) : nil
    case .reclaim(let id):
      return reclaiming == .atOnce ? .memory(.reclaimed(id, reading)) : nil
    case .pageOut: return nil
    }
  }

  /// Returns the CPU and GPU time that an instance has used so far. ``rates`` applies to the time
  /// since the previous call.
  private mutating func use(of id: InstanceID) -> ResourceUse {
    let rate = rates[id] ?? (0, 0)
    var account = accounts[id] ?? (now, 0, 0)
    let time = Double(now.nanoseconds - account.at.nanoseconds)
    account = (now, account.processor + time * rate.processor, account.gpu + time * rate.gpu)
    accounts[id] = account
    return ResourceUse(
      processor: .nanoseconds(Int64(account.processor)), gpu: .nanoseconds(Int64(account.gpu)),
      isTraced: traced.contains(id))
  }

  private func answer(_ how: Answer, _ success: Event, _ failure: Event) -> Event? {
    switch how {
    case .atOnce: success
    case .never: nil
    case .failing: failure
    }
  }

  mutating func newRequest() -> RequestID {
    requestLast += 1
    return RequestID(requestLast)
  }

  mutating func newLeader() -> Leader {
    pidLast += 1
    return Leader(pid: pidLast, startTime: UInt64(pidLast) * 7)
  }

  /// Feeds a request. Returns its reply, and reports a second reply as an issue.
  @discardableResult
  mutating func ask(_ event: (RequestID) -> Event) -> Reply? {
    let request = newRequest()
    let replies = feed(event(request)).compactMap { effect -> Reply? in
      if case .reply(request, let reply) = effect { reply } else { nil }
    }
    #expect(replies.count <= 1, "a request has at most one reply")
    return replies.first
  }

  // MARK: Time

  /// Advances the time by `duration`. The timer fires exactly on time.
  mutating func advance(by duration: Duration) {
    let target = now.advanced(by: duration)
    while let next = scheduler.nextDeadline, next <= target {
      now = max(now, next)
      let caused = feed(.scheduler(.deadlineReached))
      let goesOn = caused.contains {
        switch $0 {
        // If many notifications are due, only some of them fire at each deadline.
        case .notification(.fire): true
        // If a debugger has traced the instance, the scheduler checks again for the debugger after
        // it has sent a callback. This check is due at once.
        case .deliver: true
        case _: false
        }
      }
      #expect(
        goesOn || scheduler.nextDeadline.map { $0 > now } ?? true,
        "a deadline that was handled may not remain due")
    }
    now = target
  }

  /// Advances the time while the machine sleeps. At the end of the sleep, `first` runs. After that,
  /// the timer fires.
  mutating func sleep(for duration: Duration, then first: (inout World) -> Void = { _ in }) {
    now = now.advanced(by: duration)
    first(&self)
    feed(.scheduler(.deadlineReached))
    #expect(scheduler.nextDeadline.map { $0 > now } ?? true)
  }

  mutating func forget() { effects = [] }

  /// Replaces the daemon by a new daemon, which starts `duration` later with the stored state.
  mutating func crash(awayFor duration: Duration = .milliseconds(100)) throws {
    scheduler = try StoredReader.read(Scheduler.self, from: StoredWriter.bytes(of: scheduler))
    now = now.advanced(by: duration)
    feed(.scheduler(.recovered))
    if let next = scheduler.nextDeadline, next <= now { feed(.scheduler(.deadlineReached)) }
  }

  // MARK: Applications

  @discardableResult
  mutating func register(
    _ app: ApplicationKey, in target: LaunchTarget = .foreground, at seat: SeatID = seat0
  ) -> InstanceID {
    let leader = newLeader()
    guard
      case .registered(let registration)? = ask({
        .application(.register($0, app, leader, target: target, seat: seat))
      })
    else {
      Issue.record("\(app.id) could not register")
      return InstanceID(0)
    }
    return registration.instance
  }

  @discardableResult
  mutating func adopt(
    _ app: ApplicationKey, in target: LaunchTarget = .foreground, task: String? = nil,
    modes: [BackgroundMode] = [], at seat: SeatID = seat0
  ) -> InstanceID {
    let adoption = Adoption(
      application: app, leader: newLeader(), target: target, seat: seat, backgroundTask: task,
      backgroundModes: modes)
    guard case .started(let id, _)? = ask({ .operation(.adopt($0, adoption)) }) else {
      Issue.record("\(app.id) could not be adopted")
      return InstanceID(0)
    }
    return id
  }

  /// Acknowledges every callback of an instance until none is left.
  mutating func acknowledgeAll(_ id: InstanceID) {
    while status(id)?.callbacksPending ?? 0 > 0, acknowledge(id) {}
  }

  /// Acknowledges the callback in flight. Returns whether there was one.
  @discardableResult
  mutating func acknowledge(_ id: InstanceID) -> Bool {
    guard let callback = inFlight.removeValue(forKey: id) else { return false }
    return ask { .application(.acknowledge($0, id, callback.id)) } == .done
  }

  @discardableResult
  mutating func begin(_ id: InstanceID, _ name: String? = nil) -> TaskID {
    guard
      case .began(let task, _)? = ask({ .application(.beginBackgroundTask($0, id, name: name)) })
    else {
      Issue.record("no task began")
      return TaskID(0)
    }
    return task
  }

  @discardableResult
  mutating func end(_ id: InstanceID, _ task: TaskID) -> Reply? {
    ask { .application(.endBackgroundTask($0, id, task)) }
  }

  /// Creates an application in a state, without unacknowledged callbacks. An application in the
  /// state `background` has one outstanding task, with the id 1.
  mutating func make(
    _ app: ApplicationKey, _ state: ApplicationState, isAware: Bool = true
  ) -> InstanceID {
    let id = isAware ? register(app) : adopt(app)
    acknowledgeAll(id)
    if state == .notRunning { feed(.process(.leaderExited(id, .exited(code: 0)))) }
    if state == .inactive { ask { .operation(.deactivate($0, app)) } }
    if state == .background { begin(id, "work") }
    if state == .background || state == .suspended {
      ask { .operation(.sendToBackground($0, app)) }
    }
    acknowledgeAll(id)
    #expect(scheduler.state(of: id) == state)
    return id
  }

  mutating func sendAway(_ app: ApplicationKey) {
    ask { .operation(.sendToBackground($0, app)) }
  }

  mutating func activate(_ app: ApplicationKey) { ask { .operation(.activate($0, app)) } }

  // MARK: Sockets, notifications and the clock

  /// Creates an application with mode voip in a state, without unacknowledged callbacks.
  mutating func makeVoIP(_ app: ApplicationKey, _ state: ApplicationState) -> InstanceID {
    let known = scheduler.applications.all.compactMap(\.manifest).filter { $0.id != app.id }
    let manifest = Manifest(id: app.id, owner: app.owner, backgroundModes: [.voip])
    feed(.scheduler(.manifestsChanged(known + [manifest])))
    return make(app, state)
  }

  /// Passes a new socket of an instance to the daemon. Returns the socket's id.
  mutating func manage(_ id: InstanceID) -> SocketID {
    socketLast += 1
    let handed = SocketID(socketLast)
    guard case .managed(let socket)? = ask({ .socket(.manage($0, id, handed)) }) else {
      Issue.record("the daemon refused the socket")
      return SocketID(0)
    }
    return socket
  }

  /// Creates a suspended application, and resumes it because data is in its socket.
  mutating func makeWokenBySocket(_ app: ApplicationKey) -> InstanceID {
    let id = makeVoIP(app, .active)
    let socket = manage(id)
    ask { .operation(.sendToBackground($0, app)) }
    acknowledgeAll(id)
    feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    return id
  }

  /// The time of the wall clock; nil before the first reading.
  var wall: WallTime? { scheduler.notifications.wallTime(at: now) }

  mutating func setClock(_ seconds: Int64) {
    feed(.scheduler(.clockRead(WallTime(nanoseconds: seconds * 1_000_000_000))))
  }

  /// Schedules a notification after `delay`. If `delay` is nil, the notification fires at once.
  @discardableResult
  mutating func schedule(
    _ app: ApplicationKey, in delay: Duration?, repeats: RepeatInterval? = nil
  ) -> NotificationID {
    let draft = NotificationDraft(
      content: NotificationContent(title: "tea"),
      schedule: delay == nil
        ? nil
        : NotificationSchedule(date: "2027-01-15T08:00:00", timeZone: "UTC", repeats: repeats),
      firesAt: delay.flatMap { delay in wall?.advanced(by: delay) })
    guard case .scheduled(let id)? = ask({ .notification(.schedule($0, app, draft)) }) else {
      Issue.record("no notification was scheduled")
      return NotificationID(0)
    }
    return id
  }

  // MARK: Memory

  var reading: MemoryReading { MemoryReading(available: available << 20, total: 1000 << 20) }

  /// Reports memory pressure, as a trigger of the kernel does.
  @discardableResult
  mutating func press(_ source: MemoryPressure.Source = .machine) -> [Effect] {
    feed(.memory(.pressed(MemoryPressure(source: source, memory: reading))))
  }

  /// The applications that the scheduler chose to terminate for memory, in the order of the
  /// choices.
  var chosen: [ApplicationKey] {
    effects.compactMap {
      guard case .record(let record) = $0, case .memoryChosen = record.change else { return nil }
      return record.application
    }
  }

  // MARK: States and effects

  func state(_ id: InstanceID) -> ApplicationState { scheduler.state(of: id) }
  func status(_ id: InstanceID) -> InstanceStatus? { scheduler.instanceStatus(id, at: now) }
  func lastEnd(_ app: ApplicationKey) -> End? { scheduler.status(of: app, at: now)?.lastEnd }

  /// Returns the callbacks that were delivered to an instance.
  func delivered(_ id: InstanceID) -> [CallbackKind] {
    effects.compactMap {
      if case .deliver(id, let callback, _) = $0 { callback.kind } else { nil }
    }
  }

  /// Returns the tasks of an instance whose expiration handler was called.
  func expired(_ id: InstanceID) -> [TaskID] {
    effects.compactMap { if case .expire(id, let task, _) = $0 { task } else { nil } }
  }

  func changes(of app: ApplicationKey) -> [Record.Change] {
    effects.compactMap {
      if case .record(let record) = $0, record.application == app { record.change } else { nil }
    }
  }

  /// Returns the notices that an instance received.
  func notices(_ id: InstanceID) -> [Notice] {
    effects.compactMap { if case .notify(id, let notice) = $0 { notice } else { nil } }
  }

  /// The transactions that the scheduler has passed to the store, in order.
  var transactions: [NotificationTransaction] {
    effects.compactMap {
      if case .notification(.store(_, let transaction)) = $0 { transaction } else { nil }
    }
  }

  /// Returns the recipients of a notification, one for each time that it fired. Nil stands for the
  /// user.
  func receivers(of id: NotificationID) -> [InstanceID?] {
    effects.compactMap {
      if case .notification(.fire(id, _, _, let receiver)) = $0 { .some(receiver) } else { nil }
    }
  }

  /// The notifications that fired in ``effects``, in order.
  var fired: [NotificationID] {
    effects.compactMap { if case .notification(.fire(let id, _, _, _)) = $0 { id } else { nil } }
  }

  /// The reason of each launch in ``effects``, in order.
  var spawned: [LaunchReason] {
    effects.compactMap { if case .spawn(_, _, let reason) = $0 { reason } else { nil } }
  }

  func ends(of app: ApplicationKey) -> [EndReason] {
    changes(of: app).compactMap { if case .ended(let end) = $0 { end.reason } else { nil } }
  }

  /// Returns the index of the first occurrence of an effect in ``effects``.
  func position(of effect: Effect) -> Int? { effects.firstIndex(of: effect) }
}

let seat0 = SeatID("seat0")

func key(_ name: String, uid: UInt32 = 1000) -> ApplicationKey {
  guard let id = ApplicationID(name) else { preconditionFailure("\(name) is no id") }
  return ApplicationKey(id, owner: UserID(uid))
}

let mail = key("org.example.mail")
let music = key("org.example.music")
let maps = key("org.example.maps")

extension WallTime {
  func advanced(by duration: Duration) -> WallTime {
    let (seconds, attoseconds) = duration.components
    return WallTime(
      nanoseconds: nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
  }
}

let nanosecond = Duration.nanoseconds(1)

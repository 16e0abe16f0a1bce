import Testing

@testable import TaskSchedulerCore

/// The random number generator SplitMix64 (Steele, Lea, Flood 2014). The seed determines all
/// numbers.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64
  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A long sequence of random valid and invalid events for a few applications of two users.
struct RandomWalk {
  var world = World {
    $0.tasksPerApplicationMax = 4
    $0.queuedCallbacksMax = 6
    $0.applicationsPerUserMax = 3
    $0.endedApplicationsMax = 2
    $0.keepAliveMinimum = .seconds(5)
    $0.keepAliveHandlerTime = .seconds(2)
    $0.notificationsPerApplicationMax = 4
    $0.customChangesMax = 1
  }
  private var generator: SeededGenerator
  private var asked: [RequestID] = []
  private let apps = [1000, 2000].flatMap { uid in
    ["mail", "music", "maps", "chat"].map { key("org.example.\($0)", uid: uid) }
  }

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  mutating func run(steps: Int, thenStop: Bool = true) {
    for _ in 0..<steps {
      step()
      checkSeats()
    }
    guard thenStop else { return }
    world.feed(.scheduler(.stop))
    // The store answers all transactions, even after the stop.
    for id in world.scheduler.notifications.pending.keys.sorted() {
      world.feed(.notification(.stored(id)))
    }
    for id in world.scheduler.location.pending.keys.sorted() {
      world.feed(.location(.stored(id)))
    }
    checkReplies()
    checkConversations()
  }

  private mutating func pick<Element>(_ elements: [Element]) -> Element {
    elements[Int.random(in: 0..<elements.count, using: &generator)]
  }

  private mutating func request() -> RequestID {
    let request = world.newRequest()
    asked.append(request)
    return request
  }

  /// Returns one of the recent instances, or an id without an instance.
  private mutating func instance() -> InstanceID {
    let last = world.scheduler.instanceIDLast
    return InstanceID(UInt64.random(in: last > 8 ? last - 8...last + 1 : 0...last + 1,
      using: &generator))
  }

  private mutating func step() {
    let answers: [World.Answer] = [.atOnce, .atOnce, .atOnce, .never, .failing]
    world.suspending = pick(answers)
    world.spawning = pick(answers)
    world.killing = pick(answers)
    world.tracerChecking = pick(answers)
    world.obeysTerminate = pick([true, false])
    if pick([true, false, false, false]) { world.traced.insert(instance()) }
    if pick([true, false]) { world.traced = [] }
    world.storing = pick(answers)
    world.measuring = pick(answers)
    world.reclaiming = pick(answers)
    world.available = pick([20, 80, 500])
    switch Int.random(in: 0..<21, using: &generator) {
    case 19, 20: world.feed(.location(locationEvent()))
    case 18: world.feed(.switcher(switcherEvent()))
    case 16, 17: world.feed(.session(sessionEvent()))
    case 15: world.feed(memoryEvent())
    case 12...14: world.feed(wakingEvent())
    case 0...2: world.feed(operatorEvent())
    case 3...6: world.feed(applicationEvent())
    case 7, 8: _ = world.acknowledge(instance())
    case 9: world.feed(report())
    case 10: world.advance(by: pick([.zero, nanosecond, .seconds(1), .seconds(7)]))
    case _: world.advance(by: pick([.seconds(6), .seconds(100), .seconds(594), .seconds(5)]))
    }
  }

  private mutating func operatorEvent() -> Event {
    let app = pick(apps)
    switch Int.random(in: 0..<10, using: &generator) {
    case 8: return .operation(.remoteControl(request(), app.owner, .playPause))
    case 0, 1: return .operation(.activate(request(), app))
    case 2: return .operation(.deactivate(request(), app))
    case 3: return .operation(.sendToBackground(request(), app))
    case 4: return .operation(.terminate(request(), app, byUser: pick([true, false])))
    case 5:
      let target = pick([LaunchTarget.foreground, .background])
      return .operation(
        .launch(request(), app, target: target, reason: pick([.operator, .location, .call])))
    case 6:
      let target = pick([LaunchTarget.foreground, .background])
      let adoption = Adoption(
        application: app, leader: world.newLeader(), target: target, seat: seat0,
        backgroundTask: pick([nil, "command"]), backgroundModes: pick([[], [.audio]]))
      return .operation(.adopt(request(), adoption))
    case 7:
      let manifests = apps.prefix(Int.random(in: 0...4, using: &generator)).map {
        Manifest(
          id: $0.id, owner: $0.owner, backgroundModes: [.audio, .location, .voip],
          locationServices: pick([LocationService.allCases, [], [.regions]]),
          multitasking: pick([true, true, false]))
      }
      return .scheduler(.manifestsChanged(Array(manifests)))
    case _:
      var policy = world.scheduler.policy.value
      policy.backgroundTime = pick([.seconds(600), .seconds(30)])
      policy.multitaskingSupported = pick([true, true, false])
      return .scheduler(.policyChanged(policy))
    }
  }

  private mutating func applicationEvent() -> Event {
    let id = instance()
    let app = pick(apps)
    switch Int.random(in: 0..<8, using: &generator) {
    case 0:
      let target = pick([LaunchTarget.foreground, .background])
      return .application(.register(request(), app, world.newLeader(), target: target, seat: seat0))
    case 1:
      let own = world.scheduler.application(of: id)?.id ?? app.id
      return .application(.openStream(request(), id, named: pick([own, own, app.id])))
    case 2: return .application(.streamClosed(id))
    case 7:
      let request = request()
      let session = AudioSession(
        pick(AudioCategory.allCases), mixesWithOthers: pick([true, false]),
        ducksOthers: pick([true, false]))
      return .application(
        pick([
          .beginCall(request, id), .endCall(request, id),
          .setAudioSession(request, id, session),
        ]))
    case 3, 4: return .application(.beginBackgroundTask(request(), id, name: pick([nil, "sync"])))
    case 5:
      return .application(.endBackgroundTask(request(), id, TaskID(pick([0, 1, 2, 3, 4, 5]))))
    case _: return .application(.acknowledge(request(), id, CallbackID(pick([0, 1, 2, 3]))))
    }
  }

  /// Returns an event that may resume an application or send a notice to an application.
  private mutating func wakingEvent() -> Event {
    let id = instance()
    let app = pick(apps)
    let notification = NotificationID(pick([0, 1, 2, 3, 4, 5, 6, 7]))
    let socket = SocketID(pick([0, 1, 2]))
    switch Int.random(in: 0..<14, using: &generator) {
    case 0, 1:
      let intervals: [Duration?] = [nil, .seconds(4), .seconds(5), .seconds(50)]
      return .application(.setKeepAlive(request(), id, interval: pick(intervals)))
    case 2: return .socket(.manage(request(), id, socket))
    case 12: return .socket(.closed(id, [socket]))
    case 3: return .socket(.release(request(), id, socket))
    case 4: return .socket(.ready(id, [SocketReadiness(socket, pick([.data, .error]))]))
    case 5: return .socket(.lost(id, [socket]))
    case 6, 7: return .notification(.schedule(request(), app, draft()))
    case 8: return .notification(.cancel(request(), app, pick([nil, notification]), stored: []))
    case 9: return .notification(.chosen(notification, app))
    case 10: return .notification(.setBadge(request(), app, 1))
    case 11:
      let wall = WallTime(nanoseconds: Int64.random(in: 0...1 << 60, using: &generator))
      return pick([.scheduler(.clockRead(wall)), .notification(.nextFound(notification, nil))])
    case _:
      let change = SystemChange(kind: pick([.clock, .day, .network, .custom("vpn")]))
      let asker = pick([true, false]) ? request() : nil
      return .systemChanged(asker, change, for: pick([nil, UserID(1000), UserID(2000)]))
    }
  }

  private mutating func locationEvent() -> LocationEvent {
    let (id, app) = (instance(), pick(apps))
    let place = region("\(Int.random(in: 0..<30, using: &generator))")
    let source = pick([LocationSource.gpsd, .cell, .accessPoint, .geoClue(app.owner)])
    let meters = pick([0.0, 10, 190, 260, 1000, 1600, 40_000])
    let location = world.location(meters, accuracy: pick([nil, 5, 150, 3000]))
    switch Int.random(in: 0..<17, using: &generator) {
    case 0, 1: return .startUpdates(request(), id, LocationRequest(distanceFilter: pick([nil, 50])))
    case 2: return .stopUpdates(request(), id)
    case 3: return .monitorSignificantChanges(request(), id)
    case 4: return .stopMonitoringSignificantChanges(request(), id)
    case 5, 6: return .startMonitoring(request(), id, place)
    case 7: return .stopMonitoring(request(), id, place.id)
    case 8: return .requestAuthorization(request(), id)
    case 9:
      let asker = pick([true, false]) ? request() : nil
      return .authorize(asker, app, pick(LocationAuthorization.allCases))
    case 10:
      return .rulesChanged(
        LocationRules(
          allowed: pick([[], [app.id]]), denied: pick([[], [], [app.id]]),
          allowsAll: pick([true, false])))
    case 11: return .sourceChanged(source, isAvailable: pick([true, true, false]))
    case 12: return .posted(request(), location, for: pick([nil, app.owner]))
    case 13: return .moved
    case 14: return .forget(request(), app)
    case _: return .located(source, location)
    }
  }

  private mutating func sessionEvent() -> SessionEvent {
    let user = UserID(pick([1000, 2000]))
    switch Int.random(in: 0..<19, using: &generator) {
    case 15: return .players(user, [instance(), instance()])
    case 16: return .playerCalled(user, instance(), pick(PlayerCall.allCases))
    case 17: return .remoteCommand(user, pick([.play, .seek(.seconds(1))]))
    case 18:
      let call = ModemCall("/call/1", isAnswered: pick([true, false]))
      return .modemCalls(pick([[], [call]]))
    case 0, 1: return .agentAttached(user)
    case 2: return .agentLost(user)
    case 3: return pick([.locked(seat0, byRequest: pick([true, false])), .unlocked(seat0)])
    case 4:
      return pick([
        .audioLost(user), .recordingChosen(pick(apps)), .incomingCall(pick(apps)),
        .callAnswered(pick(apps)),
      ])
    case 5...9: return .audio(user, audioSnapshot())
    case _:
      var windows: [WindowReport] = []
      for _ in 0..<pick([0, 1, 4, 8]) {
        windows.append(WindowReport(instance(), pick(WindowVisibility.allCases)))
      }
      return .windows(user, WindowSnapshot(windows, hasFocus: pick([true, false])))
    }
  }

  private mutating func audioSnapshot() -> AudioSnapshot {
    var streams: [AudioStream] = []
    for index in 0..<pick([0, 1, 4, 8]) {
      let owner = instance()
      streams.append(
        AudioStream(
          AudioStreamID(server: 1, pick(AudioStream.Direction.allCases), index: UInt64(index)),
          of: owner, role: pick(AudioRole.allCases),
          volume: pick([0, 6553, 13107, 65536]), isRunning: pick([true, true, false]),
          isMuted: pick([true, false, false])))
    }
    return AudioSnapshot(
      streams, managesRoles: pick([true, false, false]),
      confirmed: streams.count == 1 ? 0 : world.scheduler.lastConfirm(of: mail.owner))
  }

  private mutating func switcherEvent() -> SwitcherEvent {
    switch Int.random(in: 0..<8, using: &generator) {
    case 0: return .remove(request(), pick(apps), byUser: pick([true, false]))
    case 1: return .lost(world.scheduler.pictures)
    case 2: return .setSnapshot(request(), instance(), pick([nil, .sensitive]))
    case _:
      let request = request()
      let picture = Snapshot.picture(SnapshotID(request.number))
      return .setSnapshot(request, instance(), picture)
    }
  }

  private mutating func memoryEvent() -> Event {
    let id = instance()
    switch Int.random(in: 0..<6, using: &generator) {
    case 0: return .memory(.read(world.reading))
    case 1: return .memory(.measured([MemorySize(id, dirty: pick([0, 1, 2]), total: 3)]))
    case 2: return .memory(.reclaimed(id, world.reading))
    case 3:
      let app = pick([nil, pick(apps)])
      return .memory(.warn(request(), app, owner: pick([nil, UserID(1000)])))
    case _:
      let source = pick(MemoryPressure.Source.allCases)
      return .memory(.pressed(MemoryPressure(source: source, memory: world.reading)))
    }
  }

  private mutating func draft() -> NotificationDraft {
    let schedule = NotificationSchedule(
      date: "2026-11-21T18:00:00", timeZone: "UTC", repeats: pick([nil, .minute]))
    let firesAt = world.wall.map { $0.advanced(by: .seconds(Int64(pick([0, 10, 1000])))) }
    return NotificationDraft(
      content: NotificationContent(title: "tea"), schedule: pick([nil, schedule]),
      firesAt: pick([nil, firesAt]))
  }

  private mutating func report() -> Event {
    let id = instance()
    switch Int.random(in: 0..<12, using: &generator) {
    case 9: return .scheduler(.started)
    case 10: return .resources(.held(id, path: "/x"))
    case 11:
      let use = ResourceUse(
        processor: pick([.zero, .seconds(1000)]), gpu: pick([.zero, .zero, .zero, .seconds(1)]),
        isTraced: pick([true, false]))
      let report = ListeningReport(pick([[], ["x"]]), isComplete: pick([true, false]))
      return pick([.resources(.used(id, use)), .resources(.listens(id, report))])
    case 0: return .process(.spawned(id, world.newLeader()))
    case 1: return .process(.spawnFailed(id, reason: "x"))
    case 2: return .process(.leaderExited(id, pick([.exited(code: 1), .signaled(11), .unknown])))
    case 3:
      return pick([
        .process(.suspensionCompleted(id)), .process(.stillSuspended([instance(), id, id])),
      ])
    case 4:
      return id.number.isMultiple(of: 2)
        ? .process(.suspensionFailed(id, reason: "x")) : .process(.suspensionLost(id, reason: "x"))
    case 5: return .process(.signalFailed(id, reason: "x"))
    case 6:
      return pick([
        .process(.tracerChecked(id, isTraced: pick([true, false]))),
        .scheduler(.recovered),
      ])
    case _: return .scheduler(.deadlineReached)
    }
  }

  // MARK: Checks that do not rely on the core

  private func checkSeats() {
    let active = world.scheduler.statuses(at: world.now).filter {
      $0.state == .active && $0.instance?.ending == nil
    }
    #expect(active.count <= 1, "at most one application is active at a seat")
  }

  /// Checks, after the scheduler has stopped, that every request has exactly one reply.
  private func checkReplies() {
    var answers: [RequestID: Int] = [:]
    for case .reply(let request, _) in world.effects { answers[request, default: 0] += 1 }
    let unanswered = asked.filter { answers[$0] == nil }
    #expect(unanswered.isEmpty, "every request has a reply")
    #expect(answers.values.allSatisfy { $0 == 1 }, "no request has two replies")
  }

  /// Checks that the scheduler sends no message to a suspended or ended application, and that each
  /// transition begins in the state in which the application's previous transition ended.
  private func checkConversations() {
    var states: [ApplicationKey: ApplicationState] = [:]
    var keys: [InstanceID: ApplicationKey] = [:]
    var tasks: [InstanceID: Set<TaskID>] = [:]
    for effect in world.effects {
      switch effect {
      case .manage(let id, _, let app):
        #expect(keys.updateValue(app, forKey: id) == nil, "an instance's id is used once")
      case .deliver(let id, _, _), .expire(let id, _, _):
        let state = keys[id].flatMap { states[$0] }
        #expect(state != .suspended && state != .notRunning)
        if case .expire(_, let task, _) = effect {
          #expect(tasks[id, default: []].insert(task).inserted, "a task expires once")
        }
      case .record(let record):
        guard case .transition(let from, let to, _) = record.change else { continue }
        #expect(states[record.application] ?? .notRunning == from)
        states[record.application] = to
      case .notify(let id, _):
        let state = keys[id].flatMap { states[$0] }
        #expect(state != .suspended && state != .notRunning)
      case .release(let id, _):
        keys[id] = nil
      case .reply, .socket, .notification, .memory, .spawn, .suspend, .resume, .terminate, .kill,
        .checkTracer, .resources, .dropPicture, .audio, .remote, .location:
        continue
      }
    }
    #expect(
      states.values.allSatisfy { $0 == .notRunning }, "the scheduler has released all instances")
  }
}

@Suite("Random events")
struct RandomWalkTests {
  @Test(
    "After random events, the invariants hold, and every request has one reply",
    arguments: 1...16 as ClosedRange<UInt64>)
  func walk(seed: UInt64) {
    var walk = RandomWalk(seed: seed)
    walk.run(steps: 1000)
  }

  @Test("The random walks reach every kind of end and refusal")
  func coverage() {
    var kinds: Set<String> = []
    for seed in 1...30 as ClosedRange<UInt64> {
      var walk = RandomWalk(seed: seed)
      walk.run(steps: 1000)
      for effect in walk.world.effects {
        guard case .record(let record) = effect else { continue }
        if case .ended(let end) = record.change { kinds.insert(end.reason.name) }
        if case .refused(let refusal) = record.change { kinds.insert(refusal.name) }
      }
    }
    let expected: Set<String> = [
      "KeepAliveTooShort", "UnknownSocket", "UnknownNotification", "NotStored", "NoEventStream",
      "exited", "crashed", "terminatedByOperator", "terminatedByUser", "callbackTimeout",
      "backgroundTimeExpired", "memoryPressure", "optedOut", "schedulerStopped",
      "UnknownApplication", "InvalidTransition", "InvalidState", "AlreadyRunning", "Terminating",
      "NotLaunchable", "LaunchFailed", "WrongApplication", "UnknownCallback", "UnknownTask",
      "ModeNotDeclared", "QuotaExceeded", "MultitaskingNotSupported",
    ]
    #expect(expected.subtracting(kinds).isEmpty)
  }

  @Test("The same events at the same instants have the same effects")
  func determinism() {
    for seed in 100...101 as ClosedRange<UInt64> {
      var first = RandomWalk(seed: seed)
      var second = RandomWalk(seed: seed)
      first.run(steps: 1000)
      second.run(steps: 1000)
      #expect(first.world.effects == second.world.effects)
      var other = RandomWalk(seed: seed + 1000)
      other.run(steps: 1000)
      #expect(first.world.effects != other.world.effects, "the walk depends on its seed")
    }
  }
}

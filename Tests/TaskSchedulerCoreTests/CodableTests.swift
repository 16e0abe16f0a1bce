import FoundationEssentials
import Testing

@testable import TaskSchedulerCore

private let one = RequestID(.max)
private let instance = InstanceID(7)
private let reminder = NotificationID(9)
private let leader = Leader(pid: 4711, startTime: .max)

extension Event {
  /// The number of its case. A new case is given the next, and a sample below.
  fileprivate var caseNumber: Int {
    switch self {
    case .register: 0
    case .openStream: 1
    case .streamClosed: 2
    case .acknowledge: 3
    case .beginBackgroundTask: 4
    case .endBackgroundTask: 5
    case .launch: 6
    case .adopt: 7
    case .activate: 8
    case .deactivate: 9
    case .sendToBackground: 10
    case .terminate: 11
    case .spawned: 12
    case .spawnFailed: 13
    case .leaderExited: 14
    case .suspensionCompleted: 15
    case .suspensionFailed: 16
    case .signalFailed: 17
    case .tracerChecked: 18
    case .activityBegan: 19
    case .activityEnded: 20
    case .deadlineReached: 21
    case .policyChanged: 22
    case .manifestsChanged: 23
    case .stop: 24
    case .recovered: 25
    case .setKeepAlive: 26
    case .socket: 27
    case .notification: 28
    case .systemChanged: 29
    case .clockRead: 30
    case .started: 31
    case .memory: 32
    case .resources: 33
    case .stillSuspended: 34
    case .suspensionLost: 35
    }
  }

  fileprivate static let samples: [Event] = [
    .register(one, mail, leader, target: .background, seat: seat0),
    .openStream(one, instance, named: mail.id), .streamClosed(instance),
    .acknowledge(one, instance, CallbackID(3)),
    .beginBackgroundTask(one, instance, name: "sync \"ü\""),
    .beginBackgroundTask(one, instance, name: nil),
    .endBackgroundTask(one, instance, TaskID(.max)),
    .launch(nil, mail, target: .foreground, reason: .operator),
    .launch(one, mail, target: .background, reason: .boot),
    .adopt(
      one,
      Adoption(
        application: mail, leader: leader, target: .foreground, seat: seat0,
        backgroundTask: "command", backgroundModes: BackgroundMode.allCases)),
    .activate(nil, mail), .deactivate(one, mail), .sendToBackground(one, mail),
    .terminate(one, mail, byUser: true), .spawned(instance, leader),
    .spawnFailed(instance, reason: "execve: ENOENT"),
    .leaderExited(instance, .exited(code: -1)), .leaderExited(instance, .signaled(11)),
    .leaderExited(instance, .unknown), .suspensionCompleted(instance),
    .stillSuspended([instance, InstanceID(.max)]),
    .suspensionFailed(instance, reason: ""), .suspensionLost(instance, reason: "SIGCONT"),
    .signalFailed(instance, reason: "EPERM"),
    .tracerChecked(instance, isTraced: true), .activityBegan(instance, .audio),
    .activityEnded(instance, .event), .deadlineReached, .policyChanged(Policy()),
    .manifestsChanged([
      Manifest(
        id: mail.id, displayName: "Mail", owner: mail.owner, namesUser: true,
        backgroundModes: [.voip], multitasking: false, isLaunchable: false)
    ]), .stop, .recovered(lastAlive: Instant(nanoseconds: .max)),
    .setKeepAlive(one, instance, interval: .seconds(600)),
    .setKeepAlive(one, instance, interval: nil),
    .socket(.manage(one, instance, SocketID(1))), .socket(.closed(instance, [SocketID(1)])),
    .socket(.release(one, instance, SocketID(1))),
    .socket(.ready(instance, [SocketReadiness(SocketID(.max), [.data, .hangUp])])),
    .socket(.lost(instance, [SocketID(1), SocketID(2)])),
    .notification(
      .schedule(
        one, mail,
        NotificationDraft(
          content: NotificationContent(
            title: "tea \"ü\"", body: "now", sound: "bell", badge: 1, userData: "{}"),
          schedule: NotificationSchedule(
            date: "2026-11-21T18:00:00", timeZone: "Europe/Berlin", repeats: .month),
          firesAt: WallTime(nanoseconds: -1)), unshown: 3)),
    .notification(
      .schedule(one, mail, NotificationDraft(content: NotificationContent(title: "")))),
    .notification(.stored(reminder)), .notification(.notStored(reminder, reason: "ENOSPC")),
    .notification(.cancel(one, mail, nil, shown: [reminder])),
    .notification(.cancel(one, mail, reminder, shown: [])),
    .notification(.nextFound(reminder, nil)),
    .notification(.nextFound(reminder, WallTime(nanoseconds: .max))),
    .notification(.chosen(reminder, mail)), .notification(.setBadge(one, mail, 3)),
    .notification(
      .loaded(
        [
          ScheduledNotification(
            id: reminder, application: mail, firesAt: WallTime(nanoseconds: 0), repeats: true)
        ], idLast: .max)),
    .systemChanged(nil, SystemChange(kind: .timeZone, value: "Europe/Berlin"), for: nil),
    .systemChanged(one, SystemChange(kind: .custom("vpn")), for: mail.owner),
    .clockRead(WallTime(nanoseconds: .min)), .started,
    .memory(
      .pressed(
        MemoryPressure(source: .slice, memory: MemoryReading(available: 0, total: .max)))),
    .memory(.looked(MemoryReading(available: .max, total: 0))),
    .memory(.measured([MemorySize(instance, dirty: .max, total: 1, isEstimate: true)])),
    .memory(.reclaimed(instance, MemoryReading(available: 1, total: 2))),
    .memory(.warn(one, mail, owner: nil)), .memory(.warn(one, nil, owner: mail.owner)),
    .resources(
      .used(instance, ResourceUse(processor: .seconds(1), gpu: .nanoseconds(3), isTraced: true))),
    .resources(.held(instance, path: "/var/lib/\"ü\"")),
    .resources(.listens(instance, ListeningReport(["0.0.0.0:80", "@abstract"]))),
  ]
}

extension Effect {
  fileprivate var caseNumber: Int {
    switch self {
    case .reply: 0
    case .deliver: 1
    case .expire: 2
    case .spawn: 3
    case .manage: 4
    case .suspend: 5
    case .resume: 6
    case .terminate: 7
    case .kill: 8
    case .release: 9
    case .checkTracer: 10
    case .record: 11
    case .notify: 12
    case .socket: 13
    case .notification: 14
    case .memory: 15
    case .resources: 16
    }
  }

  /// The name of its case.
  var name: String {
    let names = [
      "reply", "deliver", "expire", "spawn", "manage", "suspend", "resume", "terminate", "kill",
      "release", "checkTracer", "record", "notify", "socket", "notification", "memory",
      "resources",
    ]
    return names[caseNumber]
  }
}

@Suite("The event log's form: written values read back unchanged")
struct CodableTests {
  private func roundTrip<Value: Codable>(_ value: Value) throws -> Value {
    try JSONDecoder().decode(Value.self, from: JSONEncoder().encode(value))
  }

  @Test("Every event reads back unchanged", arguments: Event.samples)
  func event(_ event: Event) throws {
    #expect(try roundTrip(event) == event)
  }

  @Test("No case of an event is left out")
  func everyCase() {
    #expect(Set(Event.samples.map(\.caseNumber)) == Set(0...35))
  }

  @Test("Every effect of a walk, of every case, reads back unchanged")
  func effects() throws {
    var seen: Set<Int> = []
    for seed in 1...4 as ClosedRange<UInt64> {
      var walk = Walk(seed: seed)
      walk.run(steps: 600)
      for effect in walk.world.effects { seen.insert(effect.caseNumber) }
      #expect(try roundTrip(walk.world.effects) == walk.world.effects)
    }
    let expiration = Effect.expire(instance, TaskID(3), remaining: .milliseconds(1))
    #expect(try roundTrip(expiration) == expiration)
    #expect(seen.union([expiration.caseNumber]) == Set(0...16))
  }

  @Test("The named fields of earlier versions are read as the present lists")
  func namedFields() throws {
    func read<Value: Codable & Equatable>(_ text: String, _ value: Value) throws {
      #expect(try JSONDecoder().decode(Value.self, from: Data(text.utf8)) == value, "\(text)")
      #expect(try roundTrip(value) == value)
      let today = String(decoding: try JSONEncoder().encode([value]), as: UTF8.self)
      #expect(!today.contains("{"))
    }
    try read("{\"pid\":7,\"startTime\":9}", Leader(pid: 7, startTime: 9))
    try read("{\"id\":\"org.a.b\",\"owner\":{\"uid\":5}}", key("org.a.b", uid: 5))
    try read("{\"name\":\"seat0\"}", SeatID("seat0"))
    let at = Instant(nanoseconds: 3)
    for (kind, value) in [
      ("{\"task\":{\"_0\":4,\"name\":\"sync\"}}", .task(TaskID(4), name: "sync")),
      ("{\"task\":{\"_0\":4}}", .task(TaskID(4), name: nil)),
      ("{\"callback\":{\"_0\":\"willTerminate\"}}", .callback(.willTerminate)),
      ("{\"activity\":{\"_0\":\"audio\"}}", .activity(.audio)),
      ("{\"eventHandled\":{}}", .eventHandled), ("{\"eventTime\":{}}", .eventTime),
      ("{\"launchTime\":{}}", .launchTime),
    ] as [(String, EndedEntitlement.Kind)] {
      try read("{\"kind\":\(kind),\"at\":3}", EndedEntitlement(kind: value, at: at))
    }
    // The lists themselves are in event logs too.
    for (list, value) in [
      ("\"task\",4,\"sync\"", .task(TaskID(4), name: "sync")),
      ("\"task\",4", .task(TaskID(4), name: nil)),
      ("\"callback\",\"willTerminate\"", .callback(.willTerminate)),
      ("\"eventTime\"", .eventTime),
    ] as [(String, EndedEntitlement.Kind)] {
      try read("[3,\(list)]", EndedEntitlement(kind: value, at: at))
    }
  }

  @Test("An invalid application id is refused when it is read")
  func badID() {
    #expect(throws: DecodingError.self) {
      try JSONDecoder().decode(ApplicationID.self, from: Data("\"no id\"".utf8))
    }
  }
}

import Testing

@testable import TaskSchedulerCore

private let one = RequestID(.max)
private let instance = InstanceID(7)
private let reminder = NotificationID(9)
private let leader = Leader(pid: 4711, startTime: .max)

extension Event {
  fileprivate static let samples: [Event] = [
    .application(.register(one, mail, leader, target: .background, seat: seat0)),
    .session(.agentAttached(mail.owner)), .session(.agentLost(mail.owner)),
    .session(
      .windows(
        mail.owner,
        WindowSnapshot(
          WindowVisibility.allCases.map { WindowReport(instance, $0) }, hasFocus: true))),
    .session(
      .audio(
        mail.owner,
        AudioSnapshot(
          [
            AudioStream(
              AudioStreamID(server: .max, index: 1), of: instance, role: .phone, volume: 40_000,
              isMuted: true),
            AudioStream(
              AudioStreamID(server: 0, .recording, index: 2), of: nil, isRunning: false),
          ], managesRoles: true, confirmed: .max))), .session(.audioLost(mail.owner)),
    .session(.recordingChosen(mail)), .session(.players(mail.owner, [instance, InstanceID(.max)])),
    .session(.playerCalled(mail.owner, instance, .read)),
    .session(.remoteCommand(mail.owner, .seek(.seconds(-10)))),
    .operation(.remoteControl(one, mail.owner, .playPause)),
    .session(.modemCalls([ModemCall("/call/1", isAnswered: true)])),
    .session(.incomingCall(mail)), .session(.callAnswered(mail)),
    .application(.beginCall(one, instance)), .application(.endCall(one, instance)),
    .application(.setAudioSession(one, instance, AudioSession(.playback, ducksOthers: true))),
    .session(.locked(seat0, byRequest: true)), .session(.unlocked(seat0)),
    .application(.openStream(one, instance, named: mail.id)), .application(.streamClosed(instance)),
    .application(.acknowledge(one, instance, CallbackID(3))),
    .application(.beginBackgroundTask(one, instance, name: "sync \"ü\"")),
    .application(.beginBackgroundTask(one, instance, name: nil)),
    .application(.endBackgroundTask(one, instance, TaskID(.max))),
    .operation(.launch(nil, mail, target: .foreground, reason: .operator)),
    .operation(.launch(one, mail, target: .background, reason: .boot)),
    .operation(
      .adopt(
      one,
      Adoption(
        application: mail, leader: leader, target: .foreground, seat: seat0,
          backgroundTask: "command", backgroundModes: BackgroundMode.allCases))),
    .operation(.activate(nil, mail)), .operation(.deactivate(one, mail)),
    .operation(.sendToBackground(one, mail)),
    .operation(.terminate(one, mail, byUser: true)),
    .switcher(.setSnapshot(one, instance, .picture(SnapshotID(4)))),
    .switcher(.setSnapshot(one, instance, nil)), .switcher(.remove(one, mail, byUser: true)),
    .switcher(.lost([SnapshotID(1), SnapshotID(.max)])), .process(.spawned(instance, leader)),
    .process(.spawnFailed(instance, reason: "execve: ENOENT")),
    .process(.leaderExited(instance, .exited(code: -1))),
    .process(.leaderExited(instance, .signaled(11))),
    .process(.leaderExited(instance, .unknown)), .process(.suspensionCompleted(instance)),
    .process(.stillSuspended([instance, InstanceID(.max)])),
    .process(.suspensionFailed(instance, reason: "")),
    .process(.suspensionLost(instance, reason: "SIGCONT")),
    .process(.signalFailed(instance, reason: "EPERM")),
    .process(.tracerChecked(instance, isTraced: true)), .scheduler(.deadlineReached),
    .scheduler(.policyChanged(Policy())),
    .scheduler(
      .manifestsChanged([
      Manifest(
        id: mail.id, displayName: "Mail", owner: mail.owner, namesUser: true,
        backgroundModes: [.voip], multitasking: false, isLaunchable: false)
      ])), .scheduler(.stop), .scheduler(.recovered),
    .application(.setKeepAlive(one, instance, interval: .seconds(600))),
    .application(.setKeepAlive(one, instance, interval: nil)),
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
    .notification(.stored(TransactionID(3))),
    .notification(.storeFailed(TransactionID(4), reason: "ENOSPC")),
    .notification(.cancel(one, mail, nil, stored: [reminder])),
    .notification(.cancel(one, mail, reminder, stored: [])),
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
    .scheduler(.clockRead(WallTime(nanoseconds: .min))), .scheduler(.started),
    .memory(
      .pressed(
        MemoryPressure(source: .slice, memory: MemoryReading(available: 0, total: .max)))),
    .memory(.read(MemoryReading(available: .max, total: 0))),
    .memory(.measured([MemorySize(instance, dirty: .max, total: 1, isEstimate: true)])),
    .memory(.reclaimed(instance, MemoryReading(available: 1, total: 2))),
    .memory(.warn(one, mail, owner: nil)), .memory(.warn(one, nil, owner: mail.owner)),
    .resources(
      .used(instance, ResourceUse(processor: .seconds(1), gpu: .nanoseconds(3), isTraced: true))),
    .resources(.held(instance, path: "/var/lib/\"ü\"")),
    .resources(.listens(instance, ListeningReport(["0.0.0.0:80", "@abstract"]))),
  ] + location

  private static let location: [Event] = [
    .startUpdates(
      RequestID(1), InstanceID(1), LocationRequest(desiredAccuracy: .tenMeters, distanceFilter: 0.5)
    ), .stopUpdates(RequestID(1), InstanceID(1)),
    .monitorSignificantChanges(RequestID(1), InstanceID(1)),
    .stopMonitoringSignificantChanges(RequestID(1), InstanceID(1)),
    .startMonitoring(RequestID(1), InstanceID(1), region("ü", notifiesOnExit: false)),
    .stopMonitoring(RequestID(1), InstanceID(1), RegionID("ü")!),
    .requestAuthorization(RequestID(1), InstanceID(1)), .authorize(nil, mail, .denied),
    .forget(RequestID(1), mail),
    .rulesChanged(LocationRules(allowed: [mail.id], denied: [music.id], allowsAll: true)),
    .sourceChanged(.geoClue(UserID(1000)), isAvailable: true),
    .located(
      .gpsd,
      Location(
        north(-1), accuracy: 3.25, altitude: -0.0, speed: 1e300, course: 359.9,
        time: WallTime(nanoseconds: .min))),
    .posted(RequestID(1), Location(home, time: WallTime(nanoseconds: 0)), for: nil), .moved,
    .stored(TransactionID(1)), .storeFailed(TransactionID(1), reason: "ENOSPC"),
    .loaded([
      StoredLocationServices(
        application: mail, authorization: .authorized, wasAsked: true,
        monitorsSignificantChanges: true, regions: [.init(region("a"), isInside: nil)])
    ]),
  ].map { Event.location($0) }
}

@Suite("Stored events and effects")
struct StoredEventTests {
  private func restored<Value: Stored>(_ value: Value) throws -> Value {
    try StoredReader.read(Value.self, from: StoredWriter.bytes(of: value))
  }

  /// Returns the number of an enum value's case. The stored bytes of the value begin with this
  /// number.
  private func caseNumber(_ value: some Stored) -> Int { Int(StoredWriter.bytes(of: value)[0]) }

  private func caseCount(_ parts: StoredParts) -> Int {
    if case .cases(let cases) = parts { cases.count } else { 0 }
  }

  @Test("A decoded event equals the original", arguments: Event.samples)
  func event(_ event: Event) throws {
    #expect(try restored(event) == event)
  }

  @Test("The samples contain every kind of event")
  func everyEvent() {
    let count = caseCount(Event.parts)
    #expect(Set(Event.samples.map { caseNumber($0) }) == Set(0..<count))
  }

  @Test("A random walk has every kind of effect, and each decoded effect equals the original")
  func effects() throws {
    var seen: Set<Int> = []
    for seed in 1...4 as ClosedRange<UInt64> {
      var walk = RandomWalk(seed: seed)
      walk.run(steps: 600)
      for effect in walk.world.effects { seen.insert(caseNumber(effect)) }
      #expect(try restored(walk.world.effects) == walk.world.effects)
    }
    let expiration = Effect.expire(instance, TaskID(3), remaining: .milliseconds(1))
    #expect(try restored(expiration) == expiration)
    #expect(seen.union([caseNumber(expiration)]) == Set(0..<caseCount(Effect.parts)))
  }

  @Test("The decoder refuses an application id that is not a reverse-DNS name")
  func badID() {
    let bytes = StoredWriter.bytes(of: "no id")
    #expect(throws: MalformedBytes("no id is not a reverse-DNS id")) {
      try StoredReader.read(ApplicationID.self, from: bytes)
    }
  }
}

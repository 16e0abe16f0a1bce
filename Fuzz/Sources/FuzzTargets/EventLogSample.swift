import TaskSchedulerCore
import TaskSchedulerEventLog

/// An event log with records of nearly every kind. The sample is generated rather than stored, so
/// that it always has the current format.
struct EventLogSample: Sendable {
  static let boot = BootID("0f5b4e0c-0000-4000-8000-0123456789ab")
  static let shared = EventLogSample()

  /// The bytes of the event log up to its last record, and the four zeros after that record.
  let bytes: [UInt8]
  /// The encoded states of the scheduler: the initial one, and the one after each event.
  let states: Set<[UInt8]>

  private init() {
    var scheduler = Scheduler()
    var now = Instant(nanoseconds: 1_000_000_000)
    for event in Self.beginnings { _ = scheduler.handle(event, at: now) }
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    var eventCount = UInt64(Self.beginnings.count)
    let start = EventLogStart(writer: "sample", eventCount: eventCount, requestLast: 3, at: now)
    let initialRecords = EventLogInitialRecords(start, Self.daemonState, scheduler)
    guard var writer = EventLogWriter(in: memory, boot: Self.boot, initialRecords: initialRecords)
    else { preconditionFailure("the sample's memory is too small for the initial records") }
    var states: Set<[UInt8]> = [Self.state(scheduler)]
    for step in Self.steps {
      switch step {
      case .note(let note):
        precondition(writer.append(note), "the sample's memory is too small for its records")
      case .event(let event, let call):
        eventCount += 1
        now = now.advanced(by: .milliseconds(20))
        writer.setEvent(eventCount)
        precondition(
          writer.append(event, for: call, at: now),
          "the sample's memory is too small for its records")
        writer.setEffectsDone(scheduler.handle(event, at: now).count)
        states.insert(Self.state(scheduler))
      }
    }
    bytes = Array(memory[..<(writer.count + 4)])
    self.states = states
  }

  static func state(_ scheduler: Scheduler) -> [UInt8] {
    StoredWriter.bytes(of: scheduler)
  }

  // MARK: Events

  private static let reminder = NotificationDraft(
    content: NotificationContent(title: "tea", body: "is ready", sound: "bell", badge: 1),
    schedule: NotificationSchedule(
      date: "2027-01-15T09:00:00", timeZone: "Europe/Berlin", repeats: .day),
    firesAt: WallTime(nanoseconds: 1_800_003_600_000_000_000))
  private static let mail = key("org.example.mail")
  private static let game = key("org.example.game")
  private static let player = key("org.example.player")
  private static let first = InstanceID(1)
  private static let second = InstanceID(2)

  private static func key(_ name: String) -> ApplicationKey {
    guard let id = ApplicationID(name) else { preconditionFailure("no id: \(name)") }
    return ApplicationKey(id, owner: UserID(1000))
  }

  private static func stream(
    _ index: UInt64 = 1, of id: InstanceID, role: AudioRole = .other
  ) -> AudioStream {
    AudioStream(AudioStreamID(server: 7, index: index), of: id, role: role)
  }

  private static func leader(_ pid: Int32) -> Leader { Leader(pid: pid, startTime: 12345) }

  /// The events that the initial state of the log already includes.
  private static let beginnings: [Event] = [
    .scheduler(
      .manifestsChanged([
      Manifest(
        id: player.id, displayName: "Player", owner: player.owner, namesUser: true,
        backgroundModes: [.audio], multitasking: true, isLaunchable: true, seat: SeatID("seat0"))
      ])),
    .application(
      .register(RequestID(1), mail, leader(11), target: .foreground, seat: SeatID("seat0"))),
    .application(.beginBackgroundTask(RequestID(2), first, name: "upload")),
    .operation(.launch(RequestID(3), player, target: .background, reason: .operator)),
  ]

  private enum Step {
    case event(Event, for: LoggedCall? = nil)
    case note(Note)
  }

  private static func details(_ pid: Int32) -> DaemonState.LeaderDetails {
    DaemonState.LeaderDetails(
      leader: leader(pid), uid: 1000, group: "/applications/\(pid)", marker: "m",
      mechanism: "signal", isLaunched: true)
  }

  private static let daemonState: DaemonState = {
    var daemonState = DaemonState()
    daemonState.instances[first] = DaemonState.Instance(
      application: mail.id.name, details: details(11),
      stopped: [DaemonState.Stopped(process: leader(21), wasStopped: false)])
    daemonState.instances[first]?.lowered = [
      DaemonState.Lowered(
        thread: leader(11), process: 11, group: nil, kind: "nice", before: 0, after: 10)
    ]
    daemonState.unmanagedLeaders[leader(14)] = details(14)
    var connection = DaemonState.Connection()
    connection.stream = first
    connection.input = MessagePart(Array("{\"method\"".utf8))
    daemonState.connections[7] = connection
    return daemonState
  }()

  /// The events that the log contains as records.
  private static let steps: [Step] = [
    .note(.leader(details(12))),
    .event(.process(.spawned(second, leader(12)))),
    .event(
      .application(.openStream(RequestID(4), second, named: player.id)),
      for: LoggedCall(
        connection: 8,
        waiting: DaemonState.Waiting(
          request: RequestID(4), method: "register", application: player.id.name, takesMore: true,
          isOneway: false))),
    .note(.stream(second, connection: 8)),
    .event(.application(.acknowledge(RequestID(5), first, CallbackID(1)))),
    .event(.application(.acknowledge(RequestID(6), first, CallbackID(2)))),
    .event(.operation(.sendToBackground(RequestID(7), mail))),
    .event(.session(.audio(mail.owner, AudioSnapshot([stream(of: second)])))),
    .event(.application(.acknowledge(RequestID(8), first, CallbackID(3)))),
    .event(.application(.acknowledge(RequestID(9), first, CallbackID(4)))),
    .event(.application(.endBackgroundTask(RequestID(10), first, TaskID(1)))),
    .note(.stopping(first, [DaemonState.Stopped(process: leader(11), wasStopped: true)])),
    .event(.resources(.listens(first, ListeningReport(["0.0.0.0:80", "@abstract"])))),
    .event(.process(.suspensionFailed(first, reason: "EPERM"))),
    .event(.process(.suspensionLost(first, reason: "process 7 runs"))),
    .note(.resumed(first)),
    .event(.process(.suspensionCompleted(first))),
    .event(.process(.stillSuspended([first, second]))),
    .event(.scheduler(.deadlineReached)),
    .event(.process(.tracerChecked(first, isTraced: false))),
    .note(.leader(details(13))),
    .event(
      .operation(
        .adopt(
        RequestID(11),
        Adoption(
          application: game, leader: leader(13), target: .background, seat: SeatID("seat0"),
            backgroundTask: "rsync", backgroundModes: [.voip])))),
    // The notification sound of the third application lowers the volume of the second one.
    .event(.application(.setAudioSession(RequestID(93), second, AudioSession(.playAndRecord)))),
    .event(
      .session(
        .audio(
          mail.owner,
          AudioSnapshot([
            stream(of: second), stream(2, of: InstanceID(3), role: .notification),
          ])))),
    .note(.monitor(DaemonState.Monitor(uid: 1000), connection: 9)),
    .note(.input(MessagePart([0x7B]), connection: 9)),
    .note(.inputComplete(connection: 9)),
    .note(.unsaved(true, connection: 9)),
    .note(.agent(true, connection: 9)),
    .event(.scheduler(.clockRead(WallTime(nanoseconds: 1_800_000_000_000_000_000)))),
    .event(.scheduler(.started)),
    .event(.application(.setKeepAlive(RequestID(15), InstanceID(3), interval: .seconds(600)))),
    .event(.socket(.manage(RequestID(16), InstanceID(3), SocketID(5)))),
    .event(.socket(.ready(InstanceID(3), [SocketReadiness(SocketID(5), .data)]))),
    .event(.systemChanged(nil, SystemChange(kind: .custom("vpn"), value: "up"), for: nil)),
    .event(.notification(.schedule(RequestID(17), mail, reminder))),
    .event(.notification(.stored(TransactionID(1)))),
    .event(.notification(.setBadge(RequestID(18), mail, 1))),
    .event(.scheduler(.policyChanged(Policy()))),
    .event(
      .memory(
        .pressed(
          MemoryPressure(
            source: .machine, memory: MemoryReading(available: 80 << 20, total: 1000 << 20))))),
    .event(.memory(.read(MemoryReading(available: 90 << 20, total: 1000 << 20)))),
    .event(.memory(.measured([MemorySize(second, dirty: 5 << 20, total: 9 << 20)]))),
    .event(
      .memory(.reclaimed(second, MemoryReading(available: 500 << 20, total: 1000 << 20)))),
    .event(.memory(.warn(RequestID(19), mail, owner: nil))),
    .event(
      .resources(
        .used(InstanceID(3), ResourceUse(processor: .seconds(7), gpu: .zero, isTraced: true)))),
    .event(.resources(.held(first, path: "/var/lib/contacts.db"))),
    .event(.scheduler(.recovered)),
    .event(.operation(.activate(RequestID(12), mail))),
    .event(.operation(.deactivate(RequestID(13), mail))),
    .event(.operation(.terminate(RequestID(14), game, byUser: true))),
    .event(.process(.signalFailed(second, reason: "ESRCH"))),
    .event(.application(.streamClosed(second))),
    .event(.process(.leaderExited(second, .signaled(9)))),
    .note(.forgotten(second)),
    .event(.session(.audio(mail.owner, AudioSnapshot()))),
    .event(.session(.audioLost(mail.owner))), .event(.session(.recordingChosen(mail))),
    .event(.session(.players(mail.owner, [second]))),
    .event(.session(.playerCalled(mail.owner, second, .command))),
    .event(.session(.remoteCommand(mail.owner, .seek(.seconds(10))))),
    .event(.operation(.remoteControl(RequestID(90), mail.owner, .next))),
    .event(.session(.modemCalls([ModemCall("/call/1", isAnswered: true)]))),
    .event(.session(.incomingCall(mail))), .event(.session(.callAnswered(mail))),
    .event(.application(.beginCall(RequestID(91), second))),
    .event(.application(.endCall(RequestID(92), second))),
    .event(.operation(.launch(nil, player, target: .foreground, reason: .boot))),
    .event(.process(.spawnFailed(InstanceID(4), reason: "ENOENT"))),
    .event(.scheduler(.stop)),
  ]
}

import TaskSchedulerCore
import Testing

@testable import TaskSchedulerEventLog

private let boot = BootID("0f5b4e0c-0000-4000-8000-0123456789ab")
private let otherBoot = BootID("1f5b4e0c-0000-4000-8000-0123456789ab")
private let mail = ApplicationKey(ApplicationID("org.example.mail")!, owner: UserID(1000))
private let leader = Leader(pid: 4711, startTime: 12345)

/// A scheduler whose events are written into an event log in memory.
private final class RecordingScheduler {
  let memory: UnsafeMutableRawBufferPointer
  var writer: EventLogWriter
  var scheduler = Scheduler()
  var now = Instant(nanoseconds: 1_000_000_000)
  var eventCount: UInt64 = 0
  /// The length of the event log and the state of the scheduler after each event.
  var history: [(end: Int, scheduler: Scheduler)] = []

  init(bytesCount: Int = 1 << 16) {
    memory = .allocate(byteCount: bytesCount, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    let start = EventLogStart(writer: "test", eventCount: 0, requestLast: 0, at: now)
    writer = EventLogWriter(
      in: memory, boot: boot,
      initialRecords: EventLogInitialRecords(start, DaemonState(), scheduler))!
    history.append((writer.count, scheduler))
  }

  deinit { memory.deallocate() }

  @discardableResult
  func handle(_ event: Event, effectsDone: Int? = nil) -> [Effect] {
    now = now.advanced(by: .milliseconds(1))
    eventCount += 1
    writer.setEvent(eventCount)
    let hasRoom = writer.append(event, at: now)
    #expect(hasRoom)
    let effects = scheduler.handle(event, at: now)
    writer.setEffectsDone(effectsDone ?? effects.count)
    history.append((writer.count, scheduler))
    return effects
  }

  func note(_ note: Note) -> Bool { writer.append(note) }

  func fill() {
    let details = DaemonState.LeaderDetails(
      leader: leader, uid: 1000, group: nil, marker: "m", mechanism: nil, isLaunched: false)
    #expect(note(.leader(details)))
    handle(
      .application(
        .register(RequestID(1), mail, leader, target: .foreground, seat: SeatID("seat0"))))
    for number in 2...9 as ClosedRange<UInt64> {
      handle(
        .application(.beginBackgroundTask(RequestID(number), InstanceID(1), name: "task \(number)"))
      )
    }
    handle(.operation(.sendToBackground(RequestID(10), mail)))
    let child = DaemonState.Stopped(process: Leader(pid: 4712, startTime: 1), wasStopped: true)
    #expect(note(.stopping(InstanceID(1), [child])))
  }

  var bytes: [UInt8] { Array(memory[..<(writer.count + 4)]) }
}

private func same(_ one: Scheduler, _ other: Scheduler) -> Bool {
  StoredWriter.bytes(of: one) == StoredWriter.bytes(of: other)
}

private func replay(
  _ bytes: [UInt8], boot: BootID? = boot, now: Instant = Instant(nanoseconds: .max)
) -> Result<Replay, EventLogRefusal> {
  bytes.withUnsafeBytes { bytes in
    Result { () throws(EventLogRefusal) in try Replay(bytes, boot: boot, now: now) }
  }
}

@Suite("An acknowledged promise is never forgotten")
struct EventLogTests {
  @Test("The event log restores the scheduler's state and the held processes")
  func whole() throws {
    let recording = RecordingScheduler()
    recording.fill()
    let found = try replay(recording.bytes).get()
    #expect(found.damage == nil)
    #expect(same(found.scheduler, recording.scheduler))
    #expect(found.eventCount == 10)
    #expect(found.requestLast == 10)
    #expect(found.lastAlive == recording.now)
    #expect(found.effectsLeft.isEmpty)
    let instance = try #require(found.daemonState.instances[InstanceID(1)])
    #expect(instance.application == "org.example.mail")
    #expect(instance.details.marker == "m")
    #expect(instance.stopped.map(\.process.pid) == [4712])
    #expect(found.end == recording.writer.count)
  }

  @Test("An event log that is truncated at any byte is used up to its last intact record")
  func truncated() throws {
    let recording = RecordingScheduler()
    recording.fill()
    let begun = recording.history[0].end
    for count in 0..<recording.bytes.count {
      switch replay(Array(recording.bytes[..<count])) {
      case .success(let found):
        #expect(count >= begun)
        let known = recording.history.last { $0.end <= count }
        #expect(same(found.scheduler, try #require(known).scheduler), "cut at \(count)")
        #expect(
          found.damage != nil || recording.history.contains { $0.end + 4 == count }
          || found.end + 4 <= count)
      case .failure:
        #expect(count < begun, "cut at \(count)")
      }
    }
  }

  @Test("A damaged byte causes neither a crash nor an event that was not written")
  func damaged() throws {
    let recording = RecordingScheduler()
    recording.fill()
    let states = Set(recording.history.map { StoredWriter.bytes(of: $0.scheduler) })
    for index in recording.bytes.indices {
      var bytes = recording.bytes
      bytes[index] ^= 0x10
      if case .success(let found) = replay(bytes) {
        #expect(states.contains(StoredWriter.bytes(of: found.scheduler)), "at \(index)")
      }
    }
  }

  @Test("After one wrong bit, the stopped processes that other records name are still found")
  func namedBeyondDamage() throws {
    let recording = RecordingScheduler()
    recording.fill()
    var ranges: [Range<Int>] = []
    let pids = (1...4).map { Int32($0) }
    for pid in pids {
      let begin = recording.writer.count
      let one = DaemonState.Stopped(process: Leader(pid: pid, startTime: 7), wasStopped: false)
      #expect(recording.note(.stopping(InstanceID(UInt64(pid)), [one])))
      ranges.append(begin..<recording.writer.count)
      recording.handle(
        .application(.beginBackgroundTask(RequestID(UInt64(20 + pid)), InstanceID(1), name: "x")))
    }
    let all = try recording.bytes.withUnsafeBytes { try Leftovers($0, boot: boot) }
    #expect(all.damage == nil)
    for index in recording.bytes.indices where index < 40 || index >= EventLogLayout.headerBytes {
      for bit in 0..<8 {
        var bytes = recording.bytes
        bytes[index] ^= 1 << bit
        let left = try bytes.withUnsafeBytes { try Leftovers($0, boot: boot) }
        let found = Set(left.stopped.map(\.process.pid))
        for (pid, range) in zip(pids, ranges) where !range.contains(index) {
          #expect(found.contains(pid), "\(pid), with byte \(index) wrong")
        }
      }
    }
  }

  @Test("An event log whose last events are missing is damaged")
  func lastEventsMissing() throws {
    let recording = RecordingScheduler()
    recording.fill()
    for missing in 1...recording.history.count - 1 {
      let end = recording.history[recording.history.count - 1 - missing].end
      var bytes = recording.bytes
      for index in end..<bytes.count { bytes[index] = 0 }
      let found = try replay(bytes).get()
      // The daemon counts an event before it writes the record, so one missing event is no damage.
      let isDamaged = missing > 1
      #expect((found.damage != nil) == isDamaged, "\(missing) events are missing")
      if isDamaged {
        #expect(found.damage?.problem == "\(missing) events are missing")
      }
      #expect(found.eventCount == UInt64(recording.history.count - 1 - missing))
    }
  }

  @Test("Records after damage release no process, because a lost record may have stopped it again")
  func resumedBeyondDamage() throws {
    let recording = RecordingScheduler()
    recording.fill()
    let one = DaemonState.Stopped(process: Leader(pid: 1, startTime: 7), wasStopped: false)
    #expect(recording.note(.stopping(InstanceID(1), [one])))
    let end = recording.writer.count
    recording.handle(.application(.beginBackgroundTask(RequestID(20), InstanceID(1), name: "x")))
    #expect(recording.note(.resumed(InstanceID(1))))
    func named(_ bytes: [UInt8]) throws -> Bool {
      let left = try bytes.withUnsafeBytes { try Leftovers($0, boot: boot) }
      return left.stopped.contains(one)
    }
    #expect(try !named(recording.bytes))
    // Damages the record between the two notes in two ways. First, its length is zero, as if the
    // event log ended there. Then, one bit of the record is wrong.
    var ended = recording.bytes
    for index in end..<end + 4 { ended[index] = 0 }
    #expect(try replay(ended).get().damage == nil)
    #expect(try named(ended))
    var wrong = recording.bytes
    wrong[end + 12] ^= 1
    #expect(try named(wrong))
  }

  @Test("The effects of the last event that were not carried out are known")
  func effectsLeft() throws {
    let recording = RecordingScheduler()
    recording.fill()
    let effects = recording.handle(.process(.leaderExited(InstanceID(1), .unknown)), effectsDone: 1)
    #expect(effects.count > 1)
    #expect(try Array(replay(recording.bytes).get().effectsLeft) == Array(effects.dropFirst()))
    // Simulates a daemon that died after it counted the next event, and before it wrote the record.
    // All effects of the written events were carried out.
    recording.writer.setEvent(recording.eventCount + 1)
    #expect(try replay(recording.bytes).get().effectsLeft.isEmpty)
  }

  @Test("An event log that begins while an event is carried out has the event's remaining effects")
  func begunWithin() throws {
    let recording = RecordingScheduler()
    recording.fill()
    let effects = recording.handle(.process(.leaderExited(InstanceID(1), .unknown)), effectsDone: 1)
    var start = EventLogStart(writer: "test", eventCount: 11, requestLast: 11, at: recording.now)
    start.effects = Array(effects.dropFirst())
    start.effectsDone = 1
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    let initialRecords = EventLogInitialRecords(start, DaemonState(), recording.scheduler)
    let writer = try #require(
      EventLogWriter(in: memory, boot: boot, initialRecords: initialRecords))
    writer.copyProgress(from: recording.writer)
    func left() throws -> [Effect] {
      Array(try Replay(UnsafeRawBufferPointer(memory), boot: boot, now: recording.now).effectsLeft)
    }
    #expect(try left() == Array(effects.dropFirst()))
    writer.setEffectsDone(effects.count)
    #expect(try left().isEmpty)
  }

  @Test("A process that was unmanaged when the event log began is not left stopped")
  func arrivingAtTheBeginning() throws {
    let recording = RecordingScheduler()
    var daemonState = DaemonState()
    daemonState.unmanagedLeaders[leader] = DaemonState.LeaderDetails(
      leader: leader, uid: 1000, group: "/applications/mail", marker: nil, mechanism: "freezer",
      isLaunched: true)
    let start = EventLogStart(writer: "test", eventCount: 0, requestLast: 0, at: recording.now)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    let initialRecords = EventLogInitialRecords(start, daemonState, recording.scheduler)
    _ = try #require(EventLogWriter(in: memory, boot: boot, initialRecords: initialRecords))
    let left = try Leftovers(UnsafeRawBufferPointer(memory), boot: boot)
    #expect(left.groups == ["/applications/mail"])
  }

  @Test("Each of several new processes is held until the scheduler has handled its event")
  func severalArrivals() throws {
    let recording = RecordingScheduler()
    recording.handle(
      .scheduler(.manifestsChanged(Self.names.map { Manifest(id: $0.id, owner: $0.owner) })))
    for key in Self.names {
      recording.handle(.operation(.launch(nil, key, target: .background, reason: .boot)))
    }
    let leaders = (1...3).map { Leader(pid: Int32($0), startTime: 7) }
    for leader in leaders { #expect(recording.note(.leader(Self.details(leader)))) }
    for (index, leader) in leaders.enumerated() {
      #expect(
        try Set(replay(recording.bytes).get().daemonState.unmanagedLeaders.keys)
          == Set(leaders[index...]))
      recording.handle(.process(.spawned(InstanceID(UInt64(index + 1)), leader)))
    }
    let found = try replay(recording.bytes).get()
    #expect(found.daemonState.unmanagedLeaders.isEmpty)
    #expect(
      Self.names.indices.map { found.daemonState.instances[InstanceID(UInt64($0 + 1))]?.details }
        == leaders.map { Self.details($0) })
    // The application of `others[0]` already runs, so the scheduler refuses this process. After the
    // refusal, the process no longer counts as an unmanaged leader.
    let others = (4...5).map { Leader(pid: Int32($0), startTime: 7) }
    for leader in others { #expect(recording.note(.leader(Self.details(leader)))) }
    recording.handle(
      .application(
        .register(
          RequestID(90), Self.names[0], others[0], target: .background, seat: SeatID("seat0"))))
    #expect(
      try Array(replay(recording.bytes).get().daemonState.unmanagedLeaders.keys) == [others[1]])
  }

  private static let names = ["mail", "maps", "music"].map {
    ApplicationKey(ApplicationID("org.example.\($0)")!, owner: UserID(1000))
  }

  private static func details(_ leader: Leader) -> DaemonState.LeaderDetails {
    DaemonState.LeaderDetails(
      leader: leader, uid: 1000, group: nil, marker: "m\(leader.pid)", mechanism: nil,
      isLaunched: true, launch: InstanceID(UInt64(leader.pid)))
  }

  @Test("Processes that were unmanaged when the event log began are held, too")
  func arrivalsAtTheBeginning() throws {
    let recording = RecordingScheduler()
    var daemonState = DaemonState()
    daemonState.unmanagedLeaders[leader] = Self.details(leader)
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 16, alignment: 16)
    defer { memory.deallocate() }
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    let start = EventLogStart(writer: "test", eventCount: 0, requestLast: 0, at: recording.now)
    let initialRecords = EventLogInitialRecords(start, daemonState, recording.scheduler)
    var writer = try #require(
      EventLogWriter(in: memory, boot: boot, initialRecords: initialRecords))
    let hasRoom = writer.append(.scheduler(.clockRead(WallTime(nanoseconds: 1))), at: recording.now)
    #expect(hasRoom)
    let found = try Replay(UnsafeRawBufferPointer(memory), boot: boot, now: recording.now)
    #expect(found.daemonState.unmanagedLeaders == daemonState.unmanagedLeaders)
  }

  @Test("Processes that run on after a stop are known until they are managed again")
  func runsOn() throws {
    let recording = RecordingScheduler()
    recording.fill()
    #expect(try replay(recording.bytes).get().daemonState.leftRunning.isEmpty)
    recording.handle(.scheduler(.stop))
    #expect(recording.note(.forgotten(InstanceID(1))))
    recording.handle(.scheduler(.stop))
    let stopped = try replay(recording.bytes).get()
    #expect(stopped.daemonState.instances.isEmpty)
    #expect(stopped.daemonState.leftRunning[leader]?.application == "org.example.mail")
    #expect(recording.note(.leader(Self.details(leader))))
    recording.handle(
      .application(
        .register(RequestID(91), mail, leader, target: .background, seat: SeatID("seat0"))))
    #expect(try replay(recording.bytes).get().daemonState.leftRunning == [:])
  }

  @Test("A restored scheduler knows whether it had started, so that no launch at start is lost")
  func started() throws {
    let recording = RecordingScheduler()
    #expect(try !replay(recording.bytes).get().scheduler.isStarted)
    recording.handle(.scheduler(.clockRead(WallTime(nanoseconds: 1))))
    #expect(try !replay(recording.bytes).get().scheduler.isStarted)
    recording.handle(.scheduler(.started))
    #expect(try replay(recording.bytes).get().scheduler.isStarted)
    recording.handle(.scheduler(.stop))
    #expect(try !replay(recording.bytes).get().scheduler.isStarted)
  }

  @Test("An event log continues where it ended, whatever malformed bytes are there")
  func continued() throws {
    let recording = RecordingScheduler()
    recording.fill()
    let end = recording.writer.count
    recording.memory[end] = 40
    recording.memory[end + 9] = 77
    recording.writer = EventLogWriter(continuing: recording.memory, from: end)
    recording.handle(.application(.endBackgroundTask(RequestID(12), InstanceID(1), TaskID(1))))
    let found = try replay(recording.bytes).get()
    #expect(found.damage == nil)
    #expect(same(found.scheduler, recording.scheduler))
  }

  @Test("A record that does not fit is not written, and no earlier record is lost")
  func full() throws {
    let recording = RecordingScheduler(bytesCount: EventLogLayout.headerBytes + 2048)
    var number: UInt64 = 1
    while recording.writer.append(.operation(.activate(RequestID(number), mail)), at: recording.now)
    {
      number += 1
    }
    #expect(number > 3)
    let found = try replay(Array(recording.memory)).get()
    #expect(found.damage == nil)
    #expect(found.requestLast == number - 1)
  }

  @Test("An event log of another version, another boot or the future is refused with the reason")
  func refused() throws {
    let recording = RecordingScheduler()
    recording.fill()
    var bytes = recording.bytes
    func refusal(_ result: Result<Replay, EventLogRefusal>) -> EventLogRefusal? {
      if case .failure(let refusal) = result { refusal } else { nil }
    }
    #expect(refusal(replay(bytes, boot: otherBoot)) == .otherBoot)
    #expect(refusal(replay(bytes, now: Instant(nanoseconds: 5))) != nil)
    let early = try replay(bytes, now: Instant(nanoseconds: 1_004_000_000)).get()
    #expect(early.eventCount == 4)
    #expect(early.damage?.problem == "an event is later than now")
    bytes[EventLogLayout.versionPlace] = UInt8(EventLogLayout.version + 1)
    #expect(refusal(replay(bytes)) == .version(EventLogLayout.version + 1))
    bytes[0] = 0
    #expect(refusal(replay(bytes)) == .notAnEventLog)
  }
}

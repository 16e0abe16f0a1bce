import FoundationEssentials
import Glibc
import TaskSchedulerCore
import TaskSchedulerEventLog
import TestSupport
import Testing

private let mail = ApplicationKey(ApplicationID("org.example.mail")!, owner: UserID(1000))
private let instance = InstanceID(1)

/// A stand-in for a daemon, with an event log in memory. A test can save the event log to a file.
private final class RecordedDaemon {
  private let memory: UnsafeMutableRawBufferPointer
  private var writer: EventLogWriter
  private var scheduler: Scheduler
  private var now = Instant(nanoseconds: 5_000_000_000)
  private(set) var count = 0

  init(from scheduler: Scheduler = Scheduler(), eventsBefore: UInt64 = 0) {
    memory = .allocate(byteCount: 1 << 16, alignment: 16)
    memory.initializeMemory(as: UInt8.self, repeating: 0)
    let start = EventLogStart(
      writer: "9.8.7", eventCount: eventsBefore, requestLast: 0, at: now)
    writer = EventLogWriter(
      in: memory, boot: BootID("0f5b4e0c-0000-4000-8000-0123456789ab"),
      initialRecords: EventLogInitialRecords(start, DaemonState(), scheduler))!
    self.scheduler = scheduler
    count = writer.count
  }

  deinit { memory.deallocate() }

  @discardableResult
  func handle(after delay: Duration, _ event: Event) -> [Effect] {
    now = now.advanced(by: delay)
    let hasRoom = writer.append(event, at: now)
    #expect(hasRoom)
    count = writer.count
    return scheduler.handle(event, at: now)
  }

  /// Records events: an application registers, begins a task, is sent away, ends the task and is
  /// suspended.
  func upload() {
    let leader = Leader(pid: 4711, startTime: 1)
    let effects = handle(
      after: .seconds(1),
      .application(
        .register(RequestID(1), mail, leader, target: .foreground, seat: SeatID("seat0"))))
    acknowledge(effects, 2)
    handle(
      after: .seconds(1), .application(.beginBackgroundTask(RequestID(4), instance, name: "photos"))
    )
    acknowledge(handle(after: .seconds(1), .operation(.sendToBackground(RequestID(5), mail))), 2)
    handle(after: .seconds(1), .application(.endBackgroundTask(RequestID(8), instance, TaskID(1))))
    handle(after: .seconds(1), .process(.suspensionCompleted(instance)))
  }

  private func acknowledge(_ effects: [Effect], _ count: Int) {
    var effects = effects
    for number in 0..<UInt64(count) {
      let callback = effects.compactMap { effect in
        if case .deliver(_, let callback, _) = effect { callback.id } else { nil }
      }.first
      guard let callback else {
        Issue.record("no callback in \(effects)")
        return
      }
      effects = handle(
        after: .milliseconds(10),
        .application(.acknowledge(RequestID(100 + number), instance, callback)))
    }
  }

  var bytes: [UInt8] { Array(memory[..<(count + 4)]) }
}

extension TemporaryDirectory {
  fileprivate func write(_ name: String, _ bytes: [UInt8]) throws -> String {
    let path = file(name)
    try Data(bytes).write(to: URL(filePath: path))
    return path
  }
}

private func replay(_ arguments: [String], socket: String? = nil) throws -> TaskctlProcess.Outcome {
  try TaskctlProcess(["simulate", "--replay"] + arguments, socket: socket).outcome()
}

/// The beginning of the expected timeline of the events of `RecordedDaemon.upload`.
private let uploadTimeline = """
     1s  > register org.example.mail
         org.example.mail  notRunning -> inactive (register)
         org.example.mail  opened its event stream
         org.example.mail  didFinishLaunching
1s 10ms  > org.example.mail acknowledged didFinishLaunching
         org.example.mail  inactive -> active (acknowledged)
         org.example.mail  didBecomeActive
"""

@Suite("taskctl simulate --replay")
struct ReplayTests {
  @Test("The timeline shows the events and the scheduler's decisions with their causes")
  func timeline() throws {
    let recorded = RecordedDaemon()
    recorded.upload()
    let directory = TemporaryDirectory()
    let path = try directory.write("event-log.1", recorded.bytes)
    let outcome = try replay([path])
    #expect(outcome.code == 0 && outcome.errors == "")
    #expect(
      outcome.output.hasPrefix(
        "\(path), started by taskschedd 9.8.7: 9 events\n\(uploadTimeline)\n"))
    let tail = [
      "> begin org.example.mail photos", "began background task 1 'photos', with unlimited time",
      "> send-away org.example.mail", "active -> background (sendAway)", "willResignActive",
      "didEnterBackground", "> end org.example.mail task 1", "ended background task 1 'photos'",
      "background -> suspended (noEntitlement)\n",
    ]
    var rest = outcome.output[...]
    for line in tail {
      let found = try #require(rest.firstRange(of: line), "\(line) in \(outcome.output)")
      rest = rest[found.upperBound...]
    }
    #expect(rest.isEmpty)
  }

  @Test("The timeline begins with the state in which the event log was started")
  func snapshot() throws {
    var scheduler = Scheduler()
    _ = scheduler.handle(
      .application(
        .register(
        RequestID(1), mail, Leader(pid: 1, startTime: 1), target: .foreground,
          seat: SeatID("seat0"))),
      at: Instant(nanoseconds: 1_000_000_000))
    _ = scheduler.handle(
      .application(.beginBackgroundTask(RequestID(2), instance, name: "photos")),
      at: Instant(nanoseconds: 2_000_000_000))
    let recorded = RecordedDaemon(from: scheduler, eventsBefore: 2)
    recorded.handle(after: .seconds(3), .process(.leaderExited(instance, .signaled(11))))
    let directory = TemporaryDirectory()
    let path = try directory.write("event-log.7", recorded.bytes)
    let outcome = try replay([path])
    #expect(
      outcome.output == """
        \(path), started by taskschedd 9.8.7: 1 event, after 2 in earlier event logs
        0s  org.example.mail  is inactive, task 1 'photos' outstanding
        3s  > crash org.example.mail 11
            org.example.mail  inactive -> notRunning (leaderExited)
            org.example.mail  crashed with SIGSEGV

        """)
    #expect(outcome.code == 0)
  }

  @Test("The newest event log of a directory is read, by default beside the socket")
  func folder() throws {
    let directory = TemporaryDirectory()
    mkdir(directory.file("event-log"), 0o700)
    let recorded = RecordedDaemon()
    recorded.upload()
    _ = try directory.write("event-log/event-log.9", RecordedDaemon().bytes)
    _ = try directory.write("event-log/event-log.10", recorded.bytes)
    _ = try directory.write("event-log/unfinished.11", [])
    for outcome in [
      try replay([directory.file("event-log")]), try replay([], socket: directory.file("socket")),
    ] {
      #expect(outcome.code == 0)
      #expect(outcome.output.hasPrefix("\(directory.file("event-log"))/event-log.10, started by "))
    }
  }

  @Test("Replay changes nothing in the directory and ignores the lock of a running daemon")
  func readsOnly() throws {
    let directory = TemporaryDirectory()
    let recorded = RecordedDaemon()
    recorded.upload()
    let path = try directory.write("event-log.1", recorded.bytes)
    chmod(path, 0o400)
    #expect(try replay([directory.path]).code == 0)
    #expect(try [UInt8](Data(contentsOf: URL(filePath: path))) == recorded.bytes)
    #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == ["event-log.1"])
  }

  @Test("Replay with --json prints one document on one line, with the facts of the event log")
  func json() throws {
    let recorded = RecordedDaemon()
    recorded.upload()
    let directory = TemporaryDirectory()
    let outcome = try replay([try directory.write("event-log.1", recorded.bytes), "--json"])
    #expect(outcome.output.split(separator: "\n").count == 1)
    struct Document: Decodable {
      struct Entry: Decodable {
        var atUSec: Int
        var kind: String
        var cause: String?
        var to: String?
      }
      struct EventLog: Decodable {
        var writer: String
        var beganAtUSec: Int
        var events: Int
        var damage: String?
      }
      var entries: [Entry]
      var eventLog: EventLog
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
    #expect(document.eventLog.writer == "9.8.7" && document.eventLog.beganAtUSec == 5_000_000)
    #expect(document.eventLog.events == 9 && document.eventLog.damage == nil)
    #expect(document.entries.last?.to == "suspended")
    #expect(document.entries.last?.cause == "noEntitlement")
    #expect(document.entries.last?.atUSec == 5_040_000)
  }

  @Test("A damaged event log is shown up to its last intact record, with the place and the damage")
  func damaged() throws {
    let recorded = RecordedDaemon()
    recorded.upload()
    let place = recorded.count
    recorded.handle(after: .seconds(1), .process(.leaderExited(instance, .signaled(9))))
    var bytes = recorded.bytes
    bytes[place + 12] ^= 1
    let directory = TemporaryDirectory()
    let path = try directory.write("event-log.1", bytes)
    let outcome = try replay([path])
    #expect(outcome.output.hasSuffix("background -> suspended (noEntitlement)\n"))
    #expect(outcome.code == 1)
    #expect(
      outcome.errors == "taskctl: DamagedEventLog: \(path): from byte \(place) on: a record's"
        + " checksum is wrong; only the records before the damage are shown\n")
    let cut = try replay([try directory.write("event-log.1", Array(recorded.bytes.dropLast(10)))])
    #expect(cut.output == outcome.output)
    #expect(cut.code == 1 && cut.errors.contains("was cut off"))
  }

  @Test("A file that is not an event log is refused with its path and the reason")
  func refused() throws {
    let directory = TemporaryDirectory()
    var newer = RecordedDaemon().bytes
    newer[8] = 77
    for (bytes, sentence) in [
      ([], "the file is not an event log of taskschedd, or is truncated"),
      (Array("application org.example.mail\n".utf8), "the file is not an event log of taskschedd"),
      (newer, "its format version is 77; this taskschedd reads version 1"),
      (Array(RecordedDaemon().bytes.prefix(4200)), "its start is damaged: "),
    ] {
      let path = try directory.write("event-log.1", bytes)
      let outcome = try replay([path])
      #expect(outcome.code == 1 && outcome.output == "")
      #expect(outcome.errors.hasPrefix("taskctl: UnreadableEventLog: \(path): \(sentence)"))
    }
  }

  @Test(
    "An unreadable path is an error that names the path",
    arguments: [
      ("/nonexistent/event-log", "no such file"), ("/dev/zero", "it is a device"),
      ("/proc/self/fdinfo", "contains no event log"),
    ])
  func unreadable(_ path: String, _ sentence: String) throws {
    let outcome = try replay([path])
    #expect(outcome.code == 1 && outcome.output == "")
    #expect(outcome.errors.hasPrefix("taskctl: UnreadableEventLog: "))
    #expect(outcome.errors.contains(path) && outcome.errors.contains(sentence))
  }

  @Test("The options --replay and --seeds exclude each other")
  func usage() throws {
    #expect(try replay(["--seeds", "1"]).code == 2)
  }
}

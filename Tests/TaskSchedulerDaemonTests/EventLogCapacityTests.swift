import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15: The daemon forgets nothing acknowledged, however small the event log's disk is")
struct EventLogCapacityTests {
  private let temporary = TemporaryDirectory()
  private let folder: EventLogDirectory
  private let finder: EventLogFinder
  private let boot = BootID("0f5b4e0c-0000-4000-8000-0123456789ab")
  private let log = Log(target: .stderr, level: .error)
  private let now = Instant(nanoseconds: 1)

  init() throws {
    let proc = try ProcFS()
    folder = try EventLogDirectory(path: temporary.file("event-log"), proc: proc)
    finder = EventLogFinder(
      directory: folder, boot: boot, socketPath: temporary.file("socket"), proc: proc, log: log)
  }

  private func eventLog() throws -> EventLog {
    let eventLog = EventLog(folder, boot: boot, scheduler: Scheduler(), at: now, log: log)
    eventLog.state = { (DaemonState(), Scheduler(), requestLast: 0) }
    return eventLog
  }

  @Test("An event that is longer than the usual capacity of an event log is stored")
  func longEvent() throws {
    let eventLog = try eventLog()
    let name = String(repeating: "n", count: 1000)
    let manifests = try (1000..<2000).map {
      Manifest(
        id: try #require(ApplicationID("org.example.a\($0)")), displayName: name, owner: UserID(0))
    }
    #expect(name.utf8.count * manifests.count > EventLogCapacity().bytes)
    eventLog.record(.scheduler(.manifestsChanged(manifests)), at: now)
    #expect(!eventLog.isBehind)
    #expect(try replay().scheduler.manifests == manifests)
  }

  @Test("A daemon that takes over a nearly full event log begins no new event log before it serves")
  func takingOver() throws {
    // The number of events that fit into an event log of the usual capacity.
    var count = 0
    var last = try eventLog()
    let first = folder.numbers
    while folder.numbers == first {
      last.record(.scheduler(.deadlineReached), at: now)
      count += 1
    }
    last = try eventLog()
    for _ in 1..<count { last.record(.scheduler(.deadlineReached), at: now) }
    let full = folder.numbers
    #expect(try replay().eventCount == UInt64(count - 1))

    let next = EventLog(continuing: try found(), in: folder, boot: boot, log: log)
    next.state = { (DaemonState(), Scheduler(), requestLast: 0) }
    next.record(.scheduler(.deadlineReached), at: now)
    #expect(folder.numbers == full, "the event fits into the space that is kept for the takeover")
    next.isTakingOver = false
    next.record(.scheduler(.deadlineReached), at: now)
    #expect(folder.numbers != full)
    #expect(try replay().eventCount == UInt64(count + 1))
  }

  /// Runs the body while the disk seems full: a file with this name cannot be created (ENOSPC).
  private func full(_ name: String = "unfinished", _ body: () throws -> Void) rethrows {
    try SyscallFaults.$errnoFor.withValue(
      { $0.hasPrefix("open ") && $0.contains("/\(name)") ? ENOSPC : nil }, operation: body)
  }

  @Test("A new event log reuses the file of an earlier event log, however full the disk is")
  func spare() throws {
    let eventLog = try eventLog()
    full {
      #expect(eventLog.isWhole(at: now))
      for _ in 1...3 { eventLog.condense(at: now) }
      #expect(eventLog.isWhole(at: now), "the next event log has space, too")
      eventLog.record(.scheduler(.deadlineReached), at: now)
    }
    #expect(!eventLog.isBehind)
    #expect(try Directory.names(path: folder.path) == ["event-log.4", "lock", "spare"])
    #expect(try replay().eventCount == 1)
  }

  @Test("Without room for the file spare, new requests are refused, and events are still written")
  func short() throws {
    var begun: EventLog?
    try full("unfinished-spare") {
      let eventLog = try eventLog()
      #expect(!eventLog.isWhole(at: now))
      eventLog.record(.scheduler(.deadlineReached), at: now)
      #expect(try replay().eventCount == 1)
      begun = eventLog
    }
    #expect(try #require(begun).isWhole(at: now), "new requests are accepted again")
  }

  @Test(
    """
    The file spare with holes is used if the disk has room to fill the holes; without room, it \
    causes an error and no trap
    """,
    .enabled(if: geteuid() == 0, "only root can mount a small disk"))
  func spareWithHoles() async {
    await #expect(processExitsWith: .success) { [path = temporary.path as String] in
      SmallDisk.mount(path, bytes: 1 << 20)
      let folder = try EventLogDirectory(path: path + "/event-log", proc: ProcFS())
      let spare = path + "/event-log/spare"
      close(open(spare, O_WRONLY | O_CREAT, 0o600))
      try #require(truncate(spare, 64 << 10) == 0)
      SmallDisk.fill(path + "/ballast", leaving: 0, in: path)
      let error = #expect(throws: SystemError.self) {
        _ = try folder.make(1, bytesCount: 64 << 10, least: 32 << 10)
      }
      #expect(error?.errno == ENOSPC)
      unlink(path + "/ballast")
      let file = try folder.make(1, bytesCount: 64 << 10, least: 32 << 10)
      #expect(file.bytes.count == 64 << 10)
      #expect(FileStatus(path: spare) == nil, "the file spare became the event log")
    }
  }

  private func found() throws -> FoundEventLog {
    guard let found = try finder.find(at: now) else {
      throw SystemError(call: "no event log was found", errno: ENOENT)
    }
    return found
  }

  private func replay() throws -> Replay { try found().replay }
}

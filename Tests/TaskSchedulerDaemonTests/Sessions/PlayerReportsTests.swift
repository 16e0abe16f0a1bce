import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§13 The instances of media players (contract.md#remote-control)")
struct PlayerReportsTests {
  private static let prefix = "org.mpris.MediaPlayer2."
  private let uid = geteuid()
  private let scene: Scene

  init() throws { scene = try Scene() }

  /// The reports of session agents, in a daemon that manages real processes.
  private final class Scene {
    /// A stand-in for the scheduler. It keeps the events that the reports post, and gives the same
    /// answer to each event.
    final class SchedulerStandIn {
      var posted: [SessionEvent] = []
      var isAffected = true
    }

    let loop: EventLoop
    let scheduler = SchedulerStandIn()
    let reports: PlayerReports
    private let proc: ProcFS
    private let controller: ProcessController

    init() throws {
      loop = try EventLoop()
      proc = try ProcFS()
      let log = Log(target: .stderr, level: .error)
      let eventLog = EventLog(
        nil, boot: BootID(""), scheduler: Scheduler(),
        at: Instant(nanoseconds: 0), log: log)
      controller = try ProcessController(
        proc: proc, loop: loop, options: DaemonOptions(), eventLog: eventLog,
        scans: DescriptorScans(proc: proc, loop: loop), store: DescriptorStore(),
        state: { _ in .notRunning }
      ) { _ in }
      reports = PlayerReports(
        processes: controller, isAffected: { [scheduler] _, _, _ in scheduler.isAffected },
        post: { [scheduler] event in
          if case .session(let event) = event { scheduler.posted.append(event) }
        })
    }

    func identity(of program: TestProcess) throws -> ProcessIdentity {
      try #require(try proc.identity(program.pid))
    }

    func player(_ name: String, _ program: TestProcess) throws -> ReportedPlayer {
      ReportedPlayer(name: PlayerReportsTests.prefix + name, process: try identity(of: program))
    }

    /// Makes a program the leader of an instance.
    func manage(_ id: InstanceID, _ program: TestProcess) throws {
      try controller.manage(
        id, of: "org.test.player",
        leader: try #require(try ProcessHandle(identity(of: program), in: proc)),
        uid: geteuid(), origin: .init())
    }

    /// Runs the loop until `PlayerReports` has posted exactly these events.
    func wait(for events: [SessionEvent]) throws {
      let end = ContinuousClock.now + deadline
      while scheduler.posted != events, ContinuousClock.now < end {
        try loop.turn(within: .milliseconds(100))
      }
      #expect(scheduler.posted == events)
    }
  }

  private var user: UserID { UserID(uid) }
  private var posted: [SessionEvent] { scene.scheduler.posted }

  private func program() throws -> TestProcess { try TestProcess.shell("read line") }

  private func call(_ name: String, _ call: PlayerCall) {
    scene.reports.called(Self.prefix + name, call, of: uid)
  }

  @Test("A report posts the instances of the players, and an equal report posts nothing")
  func instances() throws {
    let one = try program(), other = try program(), stranger = try program()
    try scene.manage(InstanceID(1), one)
    try scene.manage(InstanceID(2), other)
    let players = [
      try scene.player("b", other), try scene.player("a", one), try scene.player("c", one),
      try scene.player("d", stranger),
    ]
    scene.reports.report(players, of: uid)
    scene.reports.report(players, of: uid)
    #expect(posted == [.players(user, [InstanceID(1), InstanceID(2)])])
    scene.reports.report([], of: uid)
    #expect(posted.last == .players(user, []))
  }

  @Test("The first report of an agent is posted even if it names no instance")
  func empty() {
    scene.reports.report([], of: uid)
    #expect(posted == [.players(user, [])])
  }

  @Test("Of several names of an instance, the first in order receives commands")
  func names() throws {
    let one = try program()
    try scene.manage(InstanceID(1), one)
    scene.reports.report([try scene.player("z", one), try scene.player("b", one)], of: uid)
    #expect(scene.reports.name(of: InstanceID(1), of: user) == Self.prefix + "b")
    #expect(scene.reports.name(of: InstanceID(2), of: user) == nil)
    #expect(scene.reports.name(of: InstanceID(1), of: UserID(uid + 1)) == nil)
  }

  @Test("A call is posted if it lets the instance run, and otherwise not")
  func calls() throws {
    let one = try program()
    try scene.manage(InstanceID(1), one)
    scene.reports.report([try scene.player("a", one)], of: uid)
    call("a", .command)
    let events: [SessionEvent] = [
      .players(user, [InstanceID(1)]), .playerCalled(user, InstanceID(1), .command),
    ]
    #expect(posted == events)
    scene.scheduler.isAffected = false
    call("a", .read)
    #expect(posted == events)
  }

  @Test(
    "Of the calls to a player that is not reported yet, a command waits, or else a read",
    arguments: [
      ([PlayerCall.read], PlayerCall.read), ([.read, .command], .command),
      ([.command, .read], .command),
    ])
  func waiting(_ calls: [PlayerCall], _ expected: PlayerCall) throws {
    let one = try program()
    try scene.manage(InstanceID(1), one)
    for kind in calls { call("a", kind) }
    #expect(posted.isEmpty)
    scene.reports.report([try scene.player("a", one)], of: uid)
    let events: [SessionEvent] = [
      .players(user, [InstanceID(1)]), .playerCalled(user, InstanceID(1), expected),
    ]
    #expect(posted == events)
    scene.reports.report([try scene.player("a", one)], of: uid)
    #expect(posted == events, "the call is posted once")
  }

  @Test("A call waits until the daemon has examined the player's process")
  func examined() throws {
    let one = try program()
    try scene.manage(InstanceID(1), one)
    // More processes than the daemon examines at once.
    let absent = (0..<200).map {
      ReportedPlayer(
        name: "\(Self.prefix)x\($0)",
        process: ProcessIdentity(pid: 4_000_000 + Int32($0), startTime: 1))
    }
    scene.reports.report(absent + [try scene.player("a", one)], of: uid)
    #expect(posted.isEmpty)
    call("a", .command)
    #expect(posted.isEmpty)
    try scene.wait(
      for: [.players(user, [InstanceID(1)]), .playerCalled(user, InstanceID(1), .command)])
  }

  @Test("A call to a player that belongs to no instance does not wait")
  func unmanaged() throws {
    let one = try program()
    scene.reports.report([try scene.player("a", one)], of: uid)
    call("a", .command)
    try scene.manage(InstanceID(1), one)
    try scene.wait(for: [.players(user, []), .players(user, [InstanceID(1)])])
  }

  @Test("A process with another start time than the reported one is no player")
  func reusedPID() throws {
    let one = try program()
    try scene.manage(InstanceID(1), one)
    let identity = try scene.identity(of: one)
    let other = ProcessIdentity(pid: identity.pid, startTime: identity.startTime + 1)
    scene.reports.report([ReportedPlayer(name: Self.prefix + "a", process: other)], of: uid)
    #expect(posted == [.players(user, [])])
  }

  @Test("Another user's process is no player of a user")
  func otherUser() throws {
    let one = try program()
    try scene.manage(InstanceID(1), one)
    scene.reports.report([try scene.player("a", one)], of: uid + 1)
    #expect(posted == [.players(UserID(uid + 1), [])])
  }

  @Test("After the loss of the agent, no name is known, and an equal report is posted again")
  func lost() throws {
    let one = try program()
    try scene.manage(InstanceID(1), one)
    let players = [try scene.player("a", one)]
    scene.reports.report(players, of: uid)
    call("b", .command)
    scene.reports.lose(uid)
    #expect(scene.reports.name(of: InstanceID(1), of: user) == nil)
    #expect(posted == [.players(user, [InstanceID(1)])])
    scene.reports.report(players, of: uid)
    #expect(posted == Array(repeating: .players(user, [InstanceID(1)]), count: 2))
  }

  @Test("Calls to 300 players that are never reported do not displace a later call")
  func neverReported() throws {
    let one = try program()
    try scene.manage(InstanceID(1), one)
    for number in 0..<300 { call("x\(number)", .read) }
    call("a", .command)
    scene.reports.report([try scene.player("a", one)], of: uid)
    #expect(posted.last == .playerCalled(user, InstanceID(1), .command))
  }
}

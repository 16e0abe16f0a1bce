import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerEventLog
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerCore
@testable import TaskSchedulerDaemon

@Suite("§13 The orders about audio to session agents, and their reports")
struct AudioOrderTests {
  private typealias Order = SessionInterface.Attach.Output
  private typealias Change = SessionInterface.VolumeChange

  /// The connection of an agent, which records its orders.
  private final class Agent: AgentConnection {
    let cookie: UInt64 = 7
    let uid = geteuid()
    var isAgent = false
    var orders: [SessionInterface.Attach.Output] = []

    func process() throws(SystemError) -> ProcessIdentity? { nil }
    func send(_ order: SessionInterface.Attach.Output) { orders.append(order) }
    func send(list: [SessionInterface.Attach.Output]) { orders += list }
    func end(_ failure: SessionInterface.Failure) {}
  }

  /// An attached agent, and the object that sends it orders.
  private final class Scene {
    let agents: SessionAgents
    let agent = Agent()
    private let loop: EventLoop
    private let controller: ProcessController

    init() throws {
      loop = try EventLoop()
      let proc = try ProcFS()
      let eventLog = EventLog(
        nil, boot: BootID(""), scheduler: Scheduler(), at: Instant(nanoseconds: 0),
        log: Log(target: .stderr, level: .error))
      controller = try ProcessController(
        proc: proc, loop: loop, options: DaemonOptions(), eventLog: eventLog,
        scans: DescriptorScans(proc: proc, loop: loop), store: DescriptorStore(),
        state: { _ in .notRunning }
      ) { _ in }
      agents = SessionAgents(
        windows: WindowReports(
          processes: controller, inFront: { _ in [] }, focusMoved: { _ in }, post: { _ in }),
        audio: AudioReports(processes: controller, post: { _ in }),
        players: PlayerReports(
          processes: controller, isAffected: { _, _, _ in false }, post: { _ in }),
        locations: LocationReports(post: { _ in }), eventLog: eventLog)
      agents.attach(agent)
      agent.orders = []
    }
  }

  private let user = UserID(geteuid())

  private func stream(_ index: UInt64, of server: UInt64 = 5) -> AudioStreamID {
    AudioStreamID(server: server, index: index)
  }

  // MARK: Orders

  @Test("The changes of volumes are grouped by the audio servers of the streams")
  func grouped() throws {
    let scene = try Scene()
    scene.agents.run(
      .setVolume(
        user,
        [
          AudioVolumeChange(stream(1, of: 6), from: 100, to: 20),
          AudioVolumeChange(stream(2), from: 200, to: 40),
          AudioVolumeChange(stream(3, of: 6), from: 60, to: 300),
        ]))
    #expect(
      scene.agent.orders == [
        Order(volume: .init(generation: 5, changes: [Change(stream: 2, from: 200, to: 40)])),
        Order(
          volume: .init(
            generation: 6,
            changes: [
              Change(stream: 1, from: 100, to: 20), Change(stream: 3, from: 60, to: 300),
            ])),
      ])
  }

  @Test("A new agent lowers volumes before it ends mutes, and confirms all orders at the end")
  func newAgent() throws {
    let scene = try Scene()
    var orders = AudioOrders()
    orders.muted = [stream(1)]
    orders.unmuted = [stream(2)]
    orders.measured = [stream(3)]
    orders.volumes = [AudioVolumeChange(stream(2), from: 100, to: 20)]
    scene.agents.begin(with: orders, confirm: 3, for: user)
    #expect(
      scene.agent.orders == [
        Order(mute: .init(generation: 5, streams: [1], muted: true)),
        Order(volume: .init(generation: 5, changes: [Change(stream: 2, from: 100, to: 20)])),
        Order(mute: .init(generation: 5, streams: [2], muted: false)),
        Order(measure: .init(generation: 5, streams: [3], measured: true)),
        Order(confirm: 3),
      ])
  }

  @Test("An agent of a user without orders so far has nothing to confirm")
  func nothingToConfirm() throws {
    let scene = try Scene()
    scene.agents.begin(with: AudioOrders(), confirm: 0, for: user)
    #expect(scene.agent.orders == [])
  }

  @Test("A daemon that stops undoes the lowered volumes, and repeats the restored ones")
  func stop() throws {
    let scene = try Scene()
    var orders = AudioOrders()
    orders.muted = [stream(1)]
    orders.volumes = [
      AudioVolumeChange(stream(1), from: 100, to: 20),
      AudioVolumeChange(stream(2), from: 40, to: 200),
    ]
    scene.agents.restoreAudio(orders, of: user)
    #expect(
      scene.agent.orders == [
        Order(mute: .init(generation: 5, streams: [1], muted: false)),
        Order(
          volume: .init(
            generation: 5,
            changes: [
              Change(stream: 1, from: 20, to: 100), Change(stream: 2, from: 40, to: 200),
            ])),
      ])
  }

  // MARK: Reports

  private let process = ProcessIdentity(pid: 4711, startTime: 12)

  private func reported(
    role: AudioRole, volume: Int, isClaimed: Bool = false
  ) -> ReportedAudioStream {
    ReportedAudioStream(
      index: 1, direction: .playback, role: role, volume: volume, process: process,
      isClaimed: isClaimed, isRunning: true, isMuted: false, isSilent: false)
  }

  @Test("The scheduler receives the roles, the volumes, the role policy and the confirmation")
  func roles() {
    let server = ReportedAudioServer(path: "/a", generation: 5)
    for role in AudioRole.allCases {
      let audio = ReportedAudio()
      audio.take(
        [reported(role: role, volume: 300)], of: server, managesRoles: true, confirmed: 4)
      #expect(
        audio.snapshot()
          == AudioSnapshot(
            [AudioStream(stream(1), of: nil, role: role, volume: 300)], managesRoles: true,
            confirmed: 4))
    }
    let audio = ReportedAudio()
    audio.take([], of: nil, managesRoles: false, confirmed: 4)
    #expect(audio.snapshot() == AudioSnapshot(confirmed: 4))
  }

  @Test("A server that begins to manage roles keeps the connections that the daemon examined")
  func keepsProofs() {
    let server = ReportedAudioServer(path: "/a", generation: 5)
    let audio = ReportedAudio()
    let streams = [reported(role: .other, volume: 300, isClaimed: true)]
    audio.take(streams, of: server, managesRoles: false, confirmed: 0)
    audio.proofs[process] = .connected
    audio.take(streams, of: server, managesRoles: true, confirmed: 0)
    #expect(audio.proofs.count == 1)
    audio.take(
      streams, of: ReportedAudioServer(path: "/a", generation: 6), managesRoles: true,
      confirmed: 0)
    #expect(audio.proofs.isEmpty)
  }
}

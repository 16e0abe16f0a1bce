import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

@Suite("§15: Before the daemon enforces a limit, it reads what the application has sent")
struct LimitCheckTests {
  /// A limit check of two users' instances. The instance `talker` always has more data to read.
  private final class Scene {
    let loop: EventLoop
    private(set) var reported: [InstanceID] = []
    private(set) var steps: [UInt32] = []
    private var limitCheck: LimitCheck?
    static let talker = InstanceID(1)
    static let quiet = InstanceID(2)
    static let ended = InstanceID(3)

    init() throws {
      loop = try EventLoop()
      let users = [Self.talker: 65534 as UInt32, Self.quiet: 65533]
      let connections = LimitCheck.Connections(
        accept: {},
        carryOut: { [unowned self] instances, user, end in
          steps.append(user)
          guard instances.contains(Self.talker) else { return true }
          while BootClock.now() < end {}
          return false
        },
        user: { users[$0] })
      limitCheck = try LimitCheck(loop: loop, connections: connections, isTraced: { $1(false) }) {
        [unowned self] in
        if case .process(.tracerChecked(let id, _)) = $0 { reported.append(id) }
      }
    }

    func ask(_ ids: InstanceID...) { for id in ids { limitCheck?.ask(id) } }

    func run(until count: Int) throws {
      let end = ContinuousClock.now + deadline
      while reported.count < count, ContinuousClock.now < end { try loop.turn(within: deadline) }
    }
  }

  @Test("A user's limits do not wait for an application of another user that sends without end")
  func others() throws {
    let scene = try Scene()
    scene.ask(Scene.talker, Scene.quiet)
    try scene.run(until: 1)
    #expect(scene.reported == [Scene.quiet])
    #expect(scene.steps.count == 2, "one step of each user")
  }

  @Test("The limit of an application that sends without end is enforced after some steps")
  func endless() throws {
    let scene = try Scene()
    scene.ask(Scene.talker)
    try scene.run(until: 1)
    #expect(scene.reported == [Scene.talker])
    #expect(scene.steps.count > 1)
  }

  @Test("The daemon reads nothing for an instance that has ended")
  func ended() throws {
    let scene = try Scene()
    scene.ask(Scene.ended)
    try scene.run(until: 1)
    #expect(scene.reported == [Scene.ended])
    #expect(scene.steps.isEmpty)
  }
}

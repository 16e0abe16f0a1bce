import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerEventLog
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerCore
@testable import TaskSchedulerDaemon

@Suite("§17: The orders for locations to session agents, and their reports (contract.md#location)")
struct LocationOrderTests {
  private typealias Order = SessionInterface.Attach.Output

  /// The connection of an agent, which records its orders.
  private final class Agent: AgentConnection {
    let cookie: UInt64
    let uid: UInt32
    var isAgent = false
    var orders: [SessionInterface.Attach.Output] = []

    init(_ cookie: UInt64, of user: UserID) {
      self.cookie = cookie
      uid = user.uid
    }

    func process() throws(SystemError) -> ProcessIdentity? { nil }
    func send(_ order: SessionInterface.Attach.Output) { orders.append(order) }
    func send(list: [SessionInterface.Attach.Output]) { orders += list }
    func end(_ failure: SessionInterface.Failure) {}
  }

  /// The agents of a daemon, and the events into which the daemon translates their reports.
  private final class Scene {
    /// The events so far.
    final class Events {
      var all: [Event] = []
    }

    let agents: SessionAgents
    let posted = Events()
    private let loop: EventLoop

    init() throws {
      loop = try EventLoop()
      let proc = try ProcFS()
      let eventLog = EventLog(
        nil, boot: BootID(""), scheduler: Scheduler(), at: Instant(nanoseconds: 0),
        log: Log(target: .stderr, level: .error))
      let controller = try ProcessController(
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
        locations: LocationReports(post: { [posted] in posted.all.append($0) }),
        eventLog: eventLog)
    }

    /// Attaches an agent, and forgets the orders that it receives at its start.
    func attach(_ cookie: UInt64, of user: UserID) -> Agent {
      let agent = Agent(cookie, of: user)
      agents.attach(agent)
      agent.orders = []
      return agent
    }
  }

  private let one = UserID(1001)
  private let other = UserID(1002)

  private func needs(_ accuracy: LocationAccuracy?, _ users: UserID...) -> LocationNeeds {
    LocationNeeds(accuracy: accuracy, users: users)
  }

  private func order(_ accuracy: SessionInterface.LocationAccuracy?) -> Order {
    Order(location: .init(accuracy: accuracy))
  }

  private func location(_ latitude: Double) throws -> Location {
    let coordinate = try #require(Coordinate(latitude: latitude, longitude: 0))
    return Location(coordinate, time: WallTime(nanoseconds: 0))
  }

  // MARK: Orders

  @Test("§17: Only the agents of users that need the location receive an order, and each once")
  func users() throws {
    let scene = try Scene()
    let agent = scene.attach(1, of: one), bystander = scene.attach(2, of: other)
    scene.agents.need(needs(nil))
    scene.agents.need(needs(.kilometer, one))
    scene.agents.need(needs(.kilometer, one))
    #expect(agent.orders == [order(.kilometer)])
    scene.agents.need(needs(.best, one, other))
    scene.agents.need(needs(.best, other))
    scene.agents.need(needs(nil))
    #expect(agent.orders == [order(.kilometer), order(.best), order(nil)])
    #expect(bystander.orders == [order(.best), order(nil)])
  }

  @Test(
    "§17: The order has the accuracy that the scheduler needs",
    arguments: LocationAccuracy.allCases)
  func accuracy(_ accuracy: LocationAccuracy) throws {
    let scene = try Scene()
    let agent = scene.attach(1, of: one)
    scene.agents.need(needs(accuracy, one))
    #expect(agent.orders.map(\.location?.accuracy?.rawValue) == [accuracy.rawValue])
  }

  @Test("§17: An agent that attaches while the location is needed receives the order at its start")
  func attachesLater() throws {
    let scene = try Scene()
    scene.agents.need(needs(.tenMeters, one))
    let agent = Agent(1, of: one), bystander = Agent(2, of: other)
    for connection in [agent, bystander] { scene.agents.attach(connection) }
    #expect(agent.orders == [Order(attached: 1), order(.tenMeters)])
    #expect(bystander.orders == [Order(attached: 2)])
    let next = Agent(3, of: one)
    scene.agents.attach(next)
    #expect(next.orders == [Order(attached: 3), order(.tenMeters)])
    scene.agents.need(needs(nil))
    #expect(next.orders.last == order(nil) && agent.orders.count == 2)
  }

  @Test("§17: A daemon that takes over an agent orders the locations that it needs again")
  func takenOver() throws {
    let scene = try Scene()
    let agent = Agent(1, of: one), bystander = Agent(2, of: other)
    for connection in [agent, bystander] { scene.agents.restore(connection) }
    scene.agents.need(needs(.best, one))
    scene.agents.recovered(reporting: [], audio: [], locations: [])
    #expect(agent.orders.suffix(2) == [Order(attached: 1), order(.best)])
    #expect(bystander.orders == [Order(attached: 2)])
  }

  // MARK: Reports

  @Test("§17: Each change of GeoClue's availability, even by the agent's end, becomes one event")
  func sources() throws {
    let scene = try Scene()
    let agent = scene.attach(1, of: one)
    let reports = scene.agents.locations
    reports.report(isAvailable: false, to: one)
    #expect(scene.posted.all.isEmpty)
    for _ in 0..<2 { reports.report(isAvailable: true, to: one) }
    #expect(
      scene.posted.all == [.location(.sourceChanged(.geoClue(one), isAvailable: true))])
    reports.report(isAvailable: true, to: other)
    scene.agents.closed(agent)
    #expect(
      scene.posted.all.suffix(2) == [
        .location(.sourceChanged(.geoClue(other), isAvailable: true)),
        .location(.sourceChanged(.geoClue(one), isAvailable: false)),
      ])
    scene.agents.closed(agent)
    #expect(scene.posted.all.count == 3)
  }

  @Test("§17: If another agent replaces the agent, GeoClue is unavailable until a new report")
  func replaced() throws {
    let scene = try Scene()
    _ = scene.attach(1, of: one)
    scene.agents.locations.report(isAvailable: true, to: one)
    _ = scene.attach(2, of: one)
    scene.agents.locations.report(isAvailable: true, to: one)
    #expect(
      scene.posted.all == [true, false, true].map {
        .location(.sourceChanged(.geoClue(one), isAvailable: $0))
      })
  }

  @Test("§17: A location counts only if it is ordered, and while GeoClue is available to the user")
  func locations() throws {
    let scene = try Scene()
    _ = scene.attach(1, of: one)
    scene.agents.report(try location(1), of: one)
    scene.agents.locations.report(isAvailable: true, to: one)
    scene.agents.report(try location(2), of: one)
    scene.agents.need(needs(.best, one))
    scene.agents.report(try location(3), of: one)
    scene.agents.report(try location(4), of: other)
    scene.agents.locations.report(isAvailable: false, to: one)
    scene.agents.report(try location(5), of: one)
    scene.agents.locations.report(isAvailable: true, to: one)
    scene.agents.need(needs(nil))
    scene.agents.report(try location(6), of: one)
    let located = scene.posted.all.compactMap { event -> (LocationSource, Location)? in
      guard case .location(.located(let source, let location)) = event else { return nil }
      return (source, location)
    }
    #expect(located.count == 1)
    #expect(located.first?.0 == .geoClue(one))
    #expect(located.first?.1 == (try location(3)))
  }

  @Test("§17: After a takeover, GeoClue stays available to a user whose agent is still attached")
  func recovered() throws {
    let scene = try Scene()
    scene.agents.restore(Agent(1, of: one))
    scene.agents.recovered(reporting: [], audio: [], locations: [one, other])
    #expect(
      scene.posted.all == [.location(.sourceChanged(.geoClue(other), isAvailable: false))])
    scene.agents.locations.report(isAvailable: true, to: one)
    #expect(scene.posted.all.count == 1)
    scene.agents.locations.report(isAvailable: false, to: one)
    #expect(scene.posted.all.count == 2)
  }
}

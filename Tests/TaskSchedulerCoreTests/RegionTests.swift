import Testing

@testable import TaskSchedulerCore

private let office = RegionID("office")!
private let entered = RegionCrossing(office, isInside: true)
private let left = RegionCrossing(office, isInside: false)

extension World {
  /// Returns a world with a suspended application that monitors a region. The machine is outside
  /// the region.
  fileprivate static func monitoring(
    _ region: Region = region("office"), _ change: (inout Policy) -> Void = { _ in }
  ) -> (World, InstanceID) {
    var world = World.withReceiver(change)
    let id = world.makeLocated(mail, modes: [])
    world.monitor(id, region)
    world.sendAway(mail, id)
    world.locate(2000)
    world.advance(by: .seconds(1))
    world.forget()
    return (world, id)
  }

  /// Moves the machine to a place, and keeps it there for longer than RegionDwell.
  fileprivate mutating func stay(at meters: Double, accuracy: Double? = 5) {
    for _ in 0..<5 {
      locate(meters, accuracy: accuracy)
      advance(by: .seconds(10))
    }
  }
}

@Suite("§17 Regions (contract.md#location-regions)")
struct RegionTests {
  @Test("Entering and leaving are reported once each, and wake a suspended application")
  func crossings() {
    var (world, id) = World.monitoring()
    #expect(world.state(id) == .suspended)
    world.stay(at: 0)
    #expect(world.crossings(id) == [entered])
    #expect(
      world.changes(of: mail).contains(
        .transition(from: .suspended, to: .background, cause: .location)))
    #expect(world.state(id) == .suspended, "EventTime has passed")
    world.stay(at: 0)
    world.stay(at: 1000)
    world.acknowledgeNotices(id)
    world.stay(at: 1000)
    #expect(world.crossings(id) == [entered, left])
  }

  @Test("An application that does not acknowledge has EventTime")
  func eventTime() {
    var (world, id) = World.monitoring()
    world.locate(0)
    world.advance(by: .seconds(20))
    world.locate(0)
    #expect(world.state(id) == .background)
    world.advance(by: .milliseconds(9999))
    #expect(world.state(id) == .background)
    world.advance(by: .milliseconds(1))
    #expect(world.state(id) == .suspended)
  }

  @Test("A crossing counts after a stay of RegionDwell at max(accuracy, 50 m) beyond the boundary")
  func dwell() {
    var (world, id) = World.monitoring()
    // This place is 51 m inside the boundary. A location less than 50 m from the boundary would not
    // count for either side.
    world.locate(149)
    world.advance(by: .milliseconds(19_999))
    world.locate(149)
    #expect(world.crossings(id).isEmpty)
    world.advance(by: .milliseconds(1))
    world.locate(149)
    #expect(world.crossings(id) == [entered])
    world.acknowledgeNotices(id)
    world.stay(at: 249)
    #expect(world.crossings(id) == [entered], "249 m is outside by 49 m only")
    world.stay(at: 320, accuracy: 130)
    #expect(world.crossings(id) == [entered], "the location may be wrong by 130 m")
    world.stay(at: 251)
    #expect(world.crossings(id) == [entered, left])
  }

  @Test("A jump to the other side and back is no crossing")
  func jump() {
    var (world, id) = World.monitoring()
    world.locate(0)
    world.advance(by: .seconds(15))
    world.locate(2000)
    world.advance(by: .seconds(15))
    world.locate(0)
    world.advance(by: .seconds(15))
    world.locate(2000)
    #expect(world.crossings(id).isEmpty)
  }

  @Test("The first known side of the boundary is not reported as a crossing")
  func start() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, modes: [])
    world.monitor(id, region("office"))
    world.stay(at: 0)
    #expect(world.crossings(id).isEmpty)
    #expect(world.scheduler.monitoredRegions(of: mail).map(\.isInside) == [true])
    world.stay(at: 1000)
    #expect(world.crossings(id) == [left])
  }

  @Test("A region can report only entering, or only leaving")
  func directions() {
    for isEntry in [true, false] {
      var (world, id) = World.monitoring(
        region("office", notifiesOnEntry: isEntry, notifiesOnExit: !isEntry))
      world.stay(at: 0)
      world.acknowledgeNotices(id)
      world.stay(at: 1000)
      #expect(world.crossings(id) == [isEntry ? entered : left])
    }
  }

  @Test("A crossing launches an application that does not run, with reason and region")
  func launch() throws {
    var (world, id) = World.monitoring()
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    world.forget()
    world.stay(at: 0)
    #expect(world.spawned == [.location])
    #expect(world.scheduler.launchRegion(of: mail) == office)
    let launched = try #require(world.scheduler.running.last)
    let reply = world.ask { .application(.openStream($0, launched, named: mail.id)) }
    guard case .registered(let registration) = reply else {
      Issue.record("\(String(describing: reply))")
      return
    }
    #expect(registration.launchReason == .location && registration.launchRegion == office)
    #expect(world.crossings(launched) == [entered])
  }

  @Test("An application that an operator terminated is not relaunched by a crossing")
  func barred() {
    var (world, id) = World.monitoring()
    world.obeysTerminate = true
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    #expect(world.state(id) == .notRunning)
    world.forget()
    world.stay(at: 0)
    #expect(world.spawned.isEmpty)
  }

  @Test("Crossings are never coalesced: all are told, in order, when the application runs")
  func queue() {
    var (world, id) = World.monitoring()
    world.spawning = .failing
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    world.stay(at: 0)
    world.stay(at: 1000)
    world.stay(at: 0)
    world.forget()
    let next = world.register(mail)
    #expect(world.crossings(next) == [entered, left, entered])
  }

  @Test("Regions survive the end of the application, the daemon's death and a reboot")
  func survives() throws {
    var (world, id) = World.monitoring()
    world.feed(.process(.leaderExited(id, .signaled(9))))
    try world.crash()
    #expect(world.scheduler.monitoredRegions(of: mail).map(\.region.id) == [office])
    // A reboot: a new scheduler with the contents of the store.
    var rebooted = World.withReceiver()
    let stored = StoredLocationServices(
      application: mail, authorization: .authorized, wasAsked: true,
      regions: [.init(region("office"), isInside: false)])
    rebooted.feed(.location(.loaded([stored])))
    let manifest = Manifest(id: mail.id, owner: mail.owner, locationServices: [.regions])
    rebooted.feed(.scheduler(.manifestsChanged([manifest])))
    rebooted.feed(.scheduler(.started))
    rebooted.stay(at: 0)
    #expect(rebooted.spawned == [.location], "the machine entered the region while it was off")
  }

  @Test("A reported crossing is stored, so that it is not reported again after a reboot")
  func stored() {
    var (world, id) = World.monitoring()
    world.stay(at: 0)
    #expect(world.crossings(id) == [entered])
    #expect(world.locationChanges == [.report(entered)])
  }

  @Test("Two names with different bytes are two regions, even if they look alike")
  func names() throws {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, modes: [])
    let names = ["caf\u{e9}", "cafe\u{301}"]
    #expect(names[0] == names[1], "Swift's strings are equal")
    for name in names { world.monitor(id, region(name)) }
    #expect(world.scheduler.monitoredRegions(of: mail).count == 2)
    let first = try #require(RegionID(names[0]))
    world.ask { .location(.stopMonitoring($0, id, first)) }
    let left = world.scheduler.monitoredRegions(of: mail).map(\.region.id.name.utf8.count)
    #expect(left == [names[1].utf8.count])
  }

  @Test("An application monitors MaxRegionsPerApplication regions, a user MaxRegionsPerUser")
  func quotas() {
    var world = World.withReceiver { $0.regionsPerUserMax = 30 }
    let (one, two) = (world.makeLocated(mail), world.makeLocated(maps))
    for number in 1...20 {
      #expect(world.monitor(one, region("\(number)")) == .located(.authorized))
    }
    #expect(
      world.monitor(one, region("21"))
        == .refused(.quotaExceeded(name: "MaxRegionsPerApplication", limit: 20)))
    #expect(world.monitor(one, region("20", radius: 300)) == .located(.authorized))
    for number in 1...10 { world.monitor(two, region("\(number)")) }
    #expect(
      world.monitor(two, region("11"))
        == .refused(.quotaExceeded(name: "MaxRegionsPerUser", limit: 30)))
    #expect(
      world.ask { .location(.stopMonitoring($0, one, RegionID("21")!)) }
        == .refused(.unknownRegion(RegionID("21")!)))
    #expect(world.ask { .location(.stopMonitoring($0, one, RegionID("20")!)) } == .done)
    #expect(world.monitor(two, region("11")) == .located(.authorized))
  }

  @Test("A start that cannot be stored is refused and changes nothing")
  func notStored() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.storing = .failing
    #expect(world.monitor(id, region("office")) == .refused(.notStored(reason: "ENOSPC")))
    #expect(world.scheduler.monitoredRegions(of: mail).isEmpty)
    #expect(!world.isReceiving)
  }

  @Test("A change that the store has not answered is repeated by the next daemon")
  func repeated() throws {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.storing = .never
    world.monitor(id, region("office"))
    world.forget()
    world.storing = .atOnce
    try world.crash()
    #expect(world.locationChanges.first == .monitor(region("office")))
    #expect(world.scheduler.monitoredRegions(of: mail).count == 1)
  }
}

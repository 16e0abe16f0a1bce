import Testing

@testable import TaskSchedulerCore

extension World {
  /// Returns a world with a suspended application that monitors a region. The machine is `meters`
  /// north of ``home``.
  fileprivate static func monitoring(
    at meters: Double, _ change: (inout Policy) -> Void = { _ in }
  ) -> World {
    var world = World.withReceiver(change)
    let id = world.makeLocated(mail, modes: [])
    world.monitor(id, region("office"))
    world.sendAway(mail, id)
    #expect(world.isReceiving, "the side of a new region is not known")
    world.locate(meters)
    #expect(!world.isReceiving)
    return world
  }

  /// Advances the time until a receiver must run. Returns how long that takes, in seconds.
  fileprivate mutating func timeToLook() -> Int {
    let start = now
    while !isReceiving, let next = scheduler.nextDeadline {
      advance(by: max(now.duration(to: next), .milliseconds(1)))
    }
    return Int(start.duration(to: now) / .seconds(1))
  }
}

@Suite("§17 Power: looks for regions and significant changes (contract.md#location-power)")
struct LocationLookTests {
  @Test(
    "The next look is due when the nearest boundary could be reached at 40 m/s, 60 s to 15 min",
    arguments: [(260.0, 60), (2000, 60), (4250, 100), (20_250, 500), (36_250, 900), (99_000, 900)])
  func interval(meters: Double, seconds: Int) {
    var world = World.monitoring(at: meters)
    #expect(abs(world.timeToLook() - seconds) <= 1)
  }

  @Test("A possible crossing leads to another look after RegionDwell")
  func dwell() {
    var world = World.monitoring(at: 2000)
    #expect(world.timeToLook() == 60)
    world.locate(0)
    #expect(!world.isReceiving)
    #expect(world.timeToLook() == 20)
  }

  @Test("A look ends with a location of 100 m or better, or after LocationFixTime")
  func end() {
    var world = World.monitoring(at: 2000) { $0.locationFixTime = .seconds(30) }
    _ = world.timeToLook()
    world.locate(2000, accuracy: 300)
    #expect(world.isReceiving)
    world.advance(by: .seconds(30))
    #expect(!world.isReceiving)
    #expect(world.timeToLook() == 30, "the location that was found counts")
  }

  @Test("Looks without any location back off, up to 15 min, until a location comes")
  func backoff() {
    var world = World.monitoring(at: 2000)
    _ = world.timeToLook()
    var delays: [Int] = []
    for _ in 0..<6 {
      world.advance(by: .seconds(60))
      #expect(!world.isReceiving)
      delays.append(world.timeToLook())
    }
    #expect(delays == [60, 120, 240, 480, 900, 900])
    world.locate(2000)
    #expect(world.timeToLook() == 60)
  }

  @Test("The receiver does not run for an application that may not use the location")
  func denied() {
    var world = World.monitoring(at: 2000)
    world.ask { .location(.authorize($0, mail, .denied)) }
    world.advance(by: .seconds(3600))
    #expect(!world.isReceiving)
    #expect(world.scheduler.nextWakeUp == nil)
  }

  @Test("Locations that arrive for another reason replace looks")
  func shared() {
    var world = World.monitoring(at: 4250)
    let other = world.makeLocated(maps)
    world.startUpdates(other)
    for _ in 0..<10 {
      world.advance(by: .seconds(50))
      world.locate(4250)
    }
    world.ask { .location(.stopUpdates($0, other)) }
    #expect(world.timeToLook() == 100)
  }

  @Test("A look that is due soon happens with a keep-alive burst")
  func burst() {
    var world = World.monitoring(at: 36_250)
    let phone = world.makeVoIP(maps, .active)
    world.ask { .application(.setKeepAlive($0, phone, interval: .seconds(700))) }
    world.advance(by: .seconds(680))
    let burst = world.timeToLook()
    #expect(burst < 100, "900 s would be the time without the burst")
  }

  @Test("A look that is due soon happens when data on a managed socket wakes the machine")
  func data() {
    var world = World.monitoring(at: 99_000)
    let phone = world.makeVoIP(maps, .active)
    let ready = Event.socket(.ready(phone, [SocketReadiness(world.manage(phone), .data)]))
    world.sendAway(maps, phone)
    world.advance(by: .seconds(670))
    world.feed(ready)
    #expect(!world.isReceiving, "the last quarter of 900 s has not begun")
    world.advance(by: .seconds(10))
    world.feed(ready)
    #expect(world.isReceiving)
  }

  @Test("A look that is due soon happens when a notification fires, but not after a failed look")
  func notification() {
    var world = World.monitoring(at: 99_000)
    world.setClock(1_000_000)
    world.schedule(mail, in: .seconds(700))
    world.advance(by: .seconds(700))
    #expect(world.isReceiving)
    world.advance(by: .seconds(60))
    #expect(!world.isReceiving)
    world.schedule(mail, in: nil)
    #expect(!world.isReceiving)
    #expect(world.timeToLook() == 140, "the next look is due 900 s after the last location")
  }

  @Test("A keep-alive burst begins no look that the location of the same wake-up replaces")
  func lateBurst() {
    var world = World.monitoring(at: 36_250)
    // The application of another user needs a location, so the machine wakes. At this wake-up, the
    // scheduler also calls the handler.
    let app = key("org.example.run", uid: 2000)
    let id = world.makeLocated(app, modes: [])
    world.monitorChanges(id)
    world.sendAway(app, id)
    world.locate(36_250)
    world.acknowledgeNotices(id)
    let phone = world.makeVoIP(maps, .active)
    world.ask { .application(.setKeepAlive($0, phone, interval: .seconds(700))) }
    world.forget()
    world.sleep(for: .seconds(1000)) { $0.locate(50_000) }
    #expect(world.delivered(phone) == [.keepAlive])
    #expect(!world.isReceiving)
  }

  @Test("A sleeping machine wakes for a look")
  func wakes() {
    let world = World.monitoring(at: 99_000)
    #expect(world.scheduler.nextWakeUp == world.now.advanced(by: .seconds(900)))
  }

  @Test("Without a source there are no looks; they begin when one appears")
  func sources() {
    var world = World.monitoring(at: 2000)
    world.feed(.location(.sourceChanged(.gpsd, isAvailable: false)))
    world.advance(by: .seconds(3600))
    #expect(!world.isReceiving)
    world.feed(.location(.sourceChanged(.gpsd, isAvailable: true)))
    #expect(world.isReceiving)
  }
}

@Suite("§17 Significant changes (contract.md#location-significant)")
struct SignificantChangeTests {
  private func monitoring(hasRadio: Bool = true) -> (World, InstanceID) {
    var world = World.withReceiver()
    if hasRadio { world.feed(.location(.sourceChanged(.cell, isAvailable: true))) }
    let id = world.makeLocated(mail, modes: [])
    #expect(world.monitorChanges(id) == .located(.authorized))
    world.sendAway(mail, id)
    world.locate(0)
    #expect(world.significantChanges(id) == [0], "the first location is told")
    world.acknowledgeNotices(id)
    world.advance(by: .seconds(300))
    return (world, id)
  }

  @Test("A change of the cell leads to one location, and a move of 500 m wakes the application")
  func moves() {
    var (world, id) = monitoring()
    #expect(!world.isReceiving && world.scheduler.locationNeeds.watchesRadio)
    world.feed(.location(.moved))
    #expect(world.scheduler.locationNeeds.accuracy == .hundredMeters)
    world.locate(499)
    #expect(!world.isReceiving)
    #expect(world.state(id) == .suspended)
    world.feed(.location(.moved))
    world.advance(by: .seconds(1))
    world.locate(501)
    #expect(world.significantChanges(id) == [0, 501])
    #expect(world.state(id) == .background)
    #expect(world.changes(of: mail).contains(.location(.changedSignificantly)))
  }

  @Test("Between two cells, the location is determined at most each 5 min")
  func betweenCells() {
    var (world, id) = monitoring()
    world.feed(.location(.moved))
    world.locate(1)
    world.feed(.location(.moved))
    #expect(!world.isReceiving)
    world.advance(by: .milliseconds(299_999))
    #expect(!world.isReceiving)
    world.advance(by: .milliseconds(1))
    #expect(world.isReceiving)
    world.locate(600)
    #expect(world.significantChanges(id) == [0, 600])
  }

  @Test("Without a radio source, one location in 5 min is determined")
  func withoutRadio() {
    var (world, id) = monitoring(hasRadio: false)
    #expect(world.isReceiving)
    world.locate(1000)
    #expect(world.significantChanges(id) == [0, 1000])
    world.advance(by: .milliseconds(299_999))
    #expect(!world.isReceiving)
    world.advance(by: .milliseconds(1))
    #expect(world.isReceiving)
  }

  @Test("A change relaunches an application that does not run; only the newest is told")
  func coalesced() {
    var (world, id) = monitoring()
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    world.spawning = .failing
    world.forget()
    for meters in [1000.0, 2000, 3000] {
      world.advance(by: .seconds(300))
      world.locate(meters)
    }
    #expect(world.spawned == [.location, .location, .location])
    let next = world.register(mail)
    #expect(world.significantChanges(next) == [3000])
  }

  @Test("After a reboot, the first location is only the new reference")
  func reboot() {
    var world = World.withReceiver()
    let stored = StoredLocationServices(
      application: mail, authorization: .authorized, monitorsSignificantChanges: true)
    world.feed(.location(.loaded([stored])))
    let manifest = Manifest(id: mail.id, owner: mail.owner, locationServices: [.significantChanges])
    world.feed(.scheduler(.manifestsChanged([manifest])))
    world.feed(.location(.moved))
    world.locate(0)
    #expect(world.spawned.isEmpty)
    world.advance(by: .seconds(300))
    world.locate(600)
    #expect(world.spawned == [.location])
  }

  @Test("Stopping ends the reports and the watch of the radio")
  func stops() {
    var (world, id) = monitoring()
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(id)
    #expect(world.ask { .location(.stopMonitoringSignificantChanges($0, id)) } == .done)
    #expect(world.scheduler.locationNeeds == LocationNeeds())
    world.locate(9000)
    #expect(world.significantChanges(id) == [0])
  }
}

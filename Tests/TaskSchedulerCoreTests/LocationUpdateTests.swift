import Testing

@testable import TaskSchedulerCore

@Suite("§17 Continuous updates of the location (contract.md#location-continuous)")
struct LocationUpdateTests {
  @Test("With mode location, started updates entitle the application to run in the background")
  func entitled() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    #expect(world.startUpdates(id) == .located(.authorized))
    world.sendAway(mail, id)
    world.advance(by: .seconds(700))
    #expect(world.state(id) == .background)
    #expect(world.status(id)?.entitlements == [.location])
    world.locate(10)
    #expect(world.updates(id) == [10])
    world.ask { .location(.stopUpdates($0, id)) }
    #expect(world.state(id) == .suspended)
    #expect(world.scheduler.explanation(of: mail)?.lastEntitlement?.kind == .location)
  }

  @Test("Without mode location, a suspended application gets no updates and is never woken")
  func withoutMode() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, modes: [])
    world.startUpdates(id)
    world.locate(10)
    world.sendAway(mail, id)
    #expect(world.state(id) == .suspended)
    #expect(!world.isReceiving, "no receiver runs for a suspended application")
    world.locate(20)
    #expect(world.state(id) == .suspended)
    world.ask { .operation(.activate($0, mail)) }
    world.acknowledgeAll(id)
    world.advance(by: .seconds(1))
    world.locate(30)
    #expect(world.updates(id) == [10, 30])
  }

  @Test("A location that wakes another user's application gives a suspended one no update")
  func wokenForAnotherUser() {
    var world = World.withReceiver()
    let first = world.makeLocated(mail, modes: [])
    world.monitorChanges(first)
    world.sendAway(mail, first)
    world.locate(0)
    world.acknowledgeNotices(first)
    // The wake-up for the first application also calls this handler.
    let app = key("org.example.run", uid: 2000)
    let id = world.makeLocated(app, modes: [.voip])
    world.startUpdates(id)
    world.ask { .application(.setKeepAlive($0, id, interval: .seconds(700))) }
    world.sendAway(app, id)
    #expect(world.state(id) == .suspended)
    world.forget()
    world.sleep(for: .seconds(1000)) { $0.locate(50_000) }
    #expect(world.significantChanges(first) == [50_000])
    #expect(world.delivered(id) == [.keepAlive])
    #expect(world.updates(id) == [])
  }

  @Test("The application keeps its priority in the background while updates run")
  func priority() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.startUpdates(id)
    world.forget()
    world.sendAway(mail, id)
    #expect(!world.effects.contains(.resources(.prioritize(id, .background))))
    world.ask { .location(.stopUpdates($0, id)) }
    #expect(world.effects.contains(.resources(.prioritize(id, .suspended))))
  }

  @Test("The distance filter counts from the location of the last update")
  func filter() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.startUpdates(id, filter: 100)
    for meters in [0, 60, 99, 101, 150, 190, 202.0] {
      world.advance(by: .seconds(1))
      world.locate(meters)
    }
    #expect(world.updates(id) == [0, 101, 202])
  }

  @Test("The receiver runs exactly while an application uses updates, with the greatest accuracy")
  func needs() {
    var world = World.withReceiver()
    let (one, two) = (world.makeLocated(mail), world.makeLocated(maps))
    #expect(!world.isReceiving)
    world.startUpdates(one, .kilometer)
    #expect(world.scheduler.locationNeeds.accuracy == .kilometer)
    world.startUpdates(two, .best)
    #expect(world.scheduler.locationNeeds.accuracy == .best)
    world.feed(.process(.leaderExited(two, .exited(code: 0))))
    #expect(world.scheduler.locationNeeds.accuracy == .kilometer)
    world.feed(.process(.leaderExited(one, .signaled(9))))
    #expect(!world.isReceiving)
    #expect(world.needs == LocationNeeds())
  }

  @Test("Without a source, a start is refused with LocationUnavailable")
  func unavailable() {
    var world = World()
    let id = world.makeLocated(mail)
    #expect(world.startUpdates(id) == .refused(.locationUnavailable))
    #expect(world.monitor(id, region("office")) == .refused(.locationUnavailable))
    world.feed(.location(.sourceChanged(.geoClue(UserID(4711)), isAvailable: true)))
    #expect(world.startUpdates(id) == .refused(.locationUnavailable))
    world.feed(.location(.sourceChanged(.geoClue(mail.owner), isAvailable: true)))
    #expect(world.startUpdates(id) == .located(.authorized))
    #expect(world.scheduler.locationNeeds.users == [mail.owner])
    world.feed(.location(.sourceChanged(.gpsd, isAvailable: true)))
    #expect(world.scheduler.locationNeeds.users.isEmpty, "gpsd serves all users")
  }

  @Test("A location of a user's GeoClue reaches this user's applications only")
  func twoUsers() {
    var world = World()
    let other = key("org.example.maps", uid: 2000)
    for user in [mail.owner, other.owner] {
      world.feed(.location(.sourceChanged(.geoClue(user), isAvailable: true)))
    }
    let (one, two) = (world.makeLocated(mail), world.makeLocated(other))
    world.startUpdates(one)
    world.startUpdates(two)
    world.locate(10, from: .geoClue(mail.owner))
    world.locate(20, from: .geoClue(other.owner))
    world.locate(30)
    #expect(world.updates(one) == [10])
    #expect(world.updates(two) == [20])
  }

  @Test("Late and duplicate locations are ignored; a source whose clock goes back is not")
  func late() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.startUpdates(id)
    world.advance(by: .seconds(1000))
    let first = world.location(10)
    world.feed(.location(.located(.gpsd, first)))
    world.feed(.location(.located(.gpsd, first)))
    var older = world.location(20)
    older.time = first.time.advanced(by: .seconds(-30))
    world.feed(.location(.located(.gpsd, older)))
    #expect(world.updates(id) == [10])
    older.time = first.time.advanced(by: .seconds(-1000))
    world.feed(.location(.located(.gpsd, older)))
    #expect(world.updates(id) == [10, 20])
  }

  @Test("A location that an operator posts counts in place of real ones for LocationFixTime")
  func posted() {
    var world = World.withReceiver { $0.locationFixTime = .seconds(30) }
    let id = world.makeLocated(mail)
    world.startUpdates(id)
    let posted = world.location(500)
    #expect(world.ask { .location(.posted($0, posted, for: mail.owner)) } == .done)
    world.advance(by: .seconds(29))
    world.locate(10)
    #expect(world.updates(id) == [500])
    world.advance(by: .seconds(1))
    world.locate(20)
    #expect(world.updates(id) == [500, 20])
  }

  @Test("A posted location makes the service available where there is no source")
  func postedOnly() {
    var world = World()
    let id = world.makeLocated(mail)
    let posted = world.location(1)
    world.ask { .location(.posted($0, posted, for: nil)) }
    #expect(world.startUpdates(id) == .located(.authorized))
    world.advance(by: .seconds(60))
    #expect(world.startUpdates(id) == .refused(.locationUnavailable))
  }

  @Test("Updates survive a restart of the daemon")
  func restart() throws {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.startUpdates(id, .hundredMeters)
    world.sendAway(mail, id)
    world.forget()
    try world.crash()
    #expect(world.state(id) == .background)
    #expect(world.needs?.accuracy == .hundredMeters, "the sources of the new daemon are told")
    world.locate(10)
    #expect(world.updates(id) == [10])
  }
}

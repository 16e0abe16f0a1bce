import Testing

@testable import TaskSchedulerCore

@Suite("§17 Consent (contract.md#location-consent)")
struct LocationConsentTests {
  @Test("The user is asked once; until the answer, nothing is delivered")
  func asked() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, isAuthorized: false)
    #expect(world.startUpdates(id) == .located(.notDetermined))
    #expect(world.questions == [true])
    #expect(world.scheduler.locationQuestions(for: mail.owner) == [mail])
    world.locate(10)
    #expect(world.updates(id).isEmpty && !world.isReceiving)
    #expect(world.startUpdates(id) == .located(.notDetermined))
    #expect(world.questions == [true], "the question is asked once")
    world.feed(.location(.authorize(nil, mail, .authorized)))
    #expect(world.questions == [true, false])
    #expect(world.notices(id).contains(.locationAuthorization(.authorized)))
    world.advance(by: .seconds(1))
    world.locate(20)
    #expect(world.updates(id) == [20])
  }

  @Test("Until the user answers, updates do not entitle the application to run in the background")
  func notEntitled() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, isAuthorized: false)
    world.startUpdates(id)
    world.sendAway(mail, id)
    #expect(world.state(id) == .suspended)
    world.feed(.location(.authorize(nil, mail, .authorized)))
    #expect(world.state(id) == .suspended, "the answer wakes nothing")
  }

  @Test("The answer is kept: after a refusal, a start is refused with LocationDenied")
  func kept() throws {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, isAuthorized: false)
    world.startUpdates(id)
    world.feed(.location(.authorize(nil, mail, .denied)))
    #expect(world.startUpdates(id) == .refused(.locationDenied(.user)))
    try world.crash()
    #expect(world.startUpdates(id) == .refused(.locationDenied(.user)))
    #expect(world.locationChanges.contains(.authorize(.denied, wasAsked: true)))
  }

  @Test("A consent that is revoked while updates run ends them, and the application is told")
  func revoked() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.startUpdates(id)
    world.monitor(id, region("office"))
    world.sendAway(mail, id)
    #expect(world.ask { .location(.authorize($0, mail, .denied)) } == .done)
    #expect(world.state(id) == .suspended)
    #expect(world.notices(id).last == .locationAuthorization(.denied))
    #expect(!world.isReceiving)
    world.locate(10)
    #expect(world.updates(id).isEmpty)
  }

  @Test("The settings have precedence over the user's answer")
  func rules() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, isAuthorized: false)
    world.feed(.location(.rulesChanged(LocationRules(denied: [mail.id], allowsAll: true))))
    #expect(world.startUpdates(id) == .refused(.locationDenied(.settings)))
    world.feed(.location(.rulesChanged(LocationRules(allowed: [mail.id]))))
    #expect(world.startUpdates(id) == .located(.authorized))
    #expect(world.questions.isEmpty)
    world.feed(.location(.rulesChanged(LocationRules(denied: [mail.id]))))
    #expect(world.notices(id).last == .locationAuthorization(.denied))
    #expect(!world.isReceiving)
  }

  @Test("A question that the settings decide is removed from the screen")
  func decidedBySettings() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, isAuthorized: false)
    world.startUpdates(id)
    world.feed(.location(.rulesChanged(LocationRules(allowsAll: true))))
    #expect(world.questions == [true, false])
    #expect(world.scheduler.locationQuestions(for: mail.owner).isEmpty)
  }

  @Test("A question without an answer is shown again after a reboot")
  func rebooted() {
    var world = World.withReceiver()
    let stored = StoredLocationServices(application: mail, wasAsked: true)
    world.feed(.location(.loaded([stored])))
    #expect(world.scheduler.locationQuestions(for: mail.owner) == [mail])
    world.feed(.location(.authorize(nil, mail, .denied)))
    #expect(world.questions == [false])
    #expect(world.scheduler.locationQuestions(for: mail.owner).isEmpty)
  }

  @Test("A service that the manifest does not name is refused")
  func manifest() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, services: [.regions])
    #expect(world.startUpdates(id) == .refused(.locationDenied(.manifest)))
    #expect(world.monitorChanges(id) == .refused(.locationDenied(.manifest)))
    #expect(world.monitor(id, region("office")) == .located(.authorized))
  }

  @Test("An application without a manifest may ask for any service")
  func withoutManifest() {
    var world = World.withReceiver()
    let id = world.make(maps, .active)
    #expect(world.startUpdates(id) == .located(.notDetermined))
  }

  @Test("Waiting reports of an application that may no longer use the location are dropped")
  func waiting() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, modes: [])
    world.monitorChanges(id)
    world.spawning = .failing
    world.feed(.process(.leaderExited(id, .exited(code: 0))))
    world.locate(0)
    world.ask { .location(.authorize($0, mail, .denied)) }
    let next = world.register(mail)
    #expect(world.significantChanges(next).isEmpty)
  }

  @Test("An operator can have the user asked again")
  func again() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.startUpdates(id)
    #expect(world.ask { .location(.authorize($0, mail, .notDetermined)) } == .done)
    #expect(world.questions == [true])
    #expect(
      world.ask { .location(.authorize($0, key("org.example.none"), .authorized)) }
        == .refused(.unknownApplication(key("org.example.none"))))
  }

  @Test("A user uses the location in at most MaxLocationApplicationsPerUser applications")
  func applicationQuota() {
    var world = World.withReceiver { $0.locationApplicationsPerUserMax = 1 }
    let (one, two) = (world.makeLocated(mail), world.makeLocated(maps, isAuthorized: false))
    let refusal = Reply.refused(
      .quotaExceeded(name: "MaxLocationApplicationsPerUser", limit: 1))
    #expect(world.startUpdates(two) == refusal)
    #expect(world.monitorChanges(two) == refusal)
    #expect(world.ask { .location(.requestAuthorization($0, two)) } == refusal)
    #expect(world.ask { .location(.authorize($0, maps, .authorized)) } == refusal)
    #expect(world.monitorChanges(one) == .located(.authorized))
    #expect(world.ask { .location(.forget($0, mail)) } == .done)
    #expect(world.startUpdates(two) == .located(.notDetermined))
  }

  @Test("To forget an application ends its regions and significant changes, and the decision")
  func forget() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.monitor(id, region("home"))
    world.monitorChanges(id)
    world.locate(0)
    #expect(world.ask { .location(.forget($0, mail)) } == .done)
    #expect(world.locationChanges.last == .authorize(.notDetermined, wasAsked: false))
    #expect(world.scheduler.monitoredRegions(of: mail).isEmpty)
    #expect(world.scheduler.locationStatus.uses.isEmpty)
    #expect(!world.isReceiving)
    #expect(world.questions.isEmpty, "an application without a service asks nothing")
    let unknown = Reply.refused(.unknownApplication(mail))
    #expect(world.ask { .location(.forget($0, mail)) } == unknown)
  }

  @Test("A running application with updates is asked about again when it is forgotten")
  func forgetRunning() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.startUpdates(id)
    #expect(world.ask { .location(.forget($0, mail)) } == .done)
    #expect(world.questions == [true] && !world.isReceiving)
  }

  @Test("The status says who denies an application the location")
  func denials() throws {
    var world = World.withReceiver()
    let id = world.makeLocated(mail)
    world.monitor(id, region("home"))
    func use() throws -> LocationStatus.Use {
      try #require(world.scheduler.locationStatus.uses.first)
    }
    #expect(try use().authorization == .authorized && use().denial == nil)
    world.ask { .location(.authorize($0, mail, .denied)) }
    #expect(try use().authorization == .denied && use().denial == .user)
    world.feed(.location(.rulesChanged(LocationRules(denied: [mail.id]))))
    #expect(try use().denial == .settings)
    world.feed(.location(.rulesChanged(LocationRules())))
    world.ask { .location(.authorize($0, mail, .authorized)) }
    let manifest = Manifest(id: mail.id, owner: mail.owner, locationServices: [.updates])
    world.feed(.scheduler(.manifestsChanged([manifest])))
    #expect(try use().authorization == .denied && use().denial == .manifest)
  }

  @Test("An application that is suspended is not entitled by updates that are authorized later")
  func suspendedEntitlement() {
    var world = World.withReceiver()
    let id = world.makeLocated(mail, isAuthorized: false)
    world.startUpdates(id)
    world.sendAway(mail, id)
    #expect(world.state(id) == .suspended)
    world.ask { .location(.authorize($0, mail, .authorized)) }
    #expect(world.state(id) == .suspended)
    let status = world.scheduler.status(of: mail, at: world.now)
    #expect(status?.instance?.entitlements == [])
  }

  @Test("Suspended, unaware and terminating applications cannot start a service")
  func states() {
    var world = World.withReceiver()
    let unaware = world.make(maps, .active, isAware: false)
    #expect(world.startUpdates(unaware) == .refused(.noEventStream))
    let id = world.makeLocated(mail, modes: [])
    world.sendAway(mail, id)
    #expect(world.startUpdates(id) == .refused(.invalidState(.suspended)))
    #expect(world.startUpdates(InstanceID(99)) == .refused(.invalidState(.notRunning)))
  }
}

import Testing

@testable import TaskSchedulerCore

@Suite("§10 System changes")
struct SystemChangeTests {
  private let clock = SystemChange(kind: .clock)
  private let day = SystemChange(kind: .day, value: "2026-11-22")
  private let zone = SystemChange(kind: .timeZone, value: "Europe/Berlin")

  @Test(
    """
    The kinds of system changes are time zone, clock, day, locale, network, \
    power source, and named custom kinds
    """,
    arguments: [
      SystemChangeKind.timeZone, .clock, .day, .locale, .network, .powerSource, .custom("vpn"),
    ])
  func kinds(_ kind: SystemChangeKind) {
    var world = World()
    let id = world.make(mail, .active)
    world.feed(.systemChanged(nil, SystemChange(kind: kind, value: "x"), for: nil))
    #expect(world.notices(id) == [.systemChanges([SystemChange(kind: kind, value: "x")])])
  }

  @Test("A custom change that an operator posts is accepted")
  func posted() {
    var world = World()
    let change = SystemChange(kind: .custom("vpn"), value: "up")
    #expect(world.ask { .systemChanged($0, change, for: nil) } == .done)
  }

  @Test(
    "A running application receives system changes at once",
    arguments: [ApplicationState.active, .inactive, .background])
  func running(_ state: ApplicationState) {
    var world = World()
    let id = world.make(mail, state)
    for change in [clock, day, clock] { world.feed(.systemChanged(nil, change, for: nil)) }
    #expect(world.notices(id) == [clock, day, clock].map { .systemChanges([$0]) })
  }

  @Test("A system change never resumes a suspended application")
  func suspended() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.forget()
    for change in [clock, day, zone] { world.feed(.systemChanged(nil, change, for: nil)) }
    #expect(world.state(id) == .suspended)
    #expect(world.effects.isEmpty)
  }

  @Test(
    "A resumed application receives the newest missed change of each kind, in order"
  )
  func held() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.forget()
    let later = SystemChange(kind: .day, value: "2026-11-23")
    for change in [day, clock, zone, later, clock] {
      world.feed(.systemChanged(nil, change, for: nil))
    }
    world.ask { .operation(.activate($0, mail)) }
    #expect(world.notices(id) == [.systemChanges([zone, later, clock])])
    world.forget()
    world.feed(.systemChanged(nil, day, for: nil))
    #expect(
      world.notices(id) == [.systemChanges([day])], "the application receives no change twice")
  }

  @Test(
    """
    §2 background, suspended | activated | held system changes, willEnterForeground, \
    didBecomeActive
    """
  )
  func table() throws {
    var world = World()
    let id = world.make(mail, .suspended)
    world.feed(.systemChanged(nil, zone, for: nil))
    world.forget()
    world.ask { .operation(.activate($0, mail)) }
    let told = try #require(world.position(of: .notify(id, .systemChanges([zone]))))
    let callback = try #require(world.inFlight[id])
    #expect(callback.kind == .willEnterForeground)
    let called = try #require(world.position(of: .deliver(id, callback, nil)))
    #expect(try #require(world.position(of: .resume(id))) < told && told < called)
    world.acknowledgeAll(id)
    #expect(world.delivered(id) == [.willEnterForeground, .didBecomeActive])
    #expect(world.state(id) == .active)
  }

  @Test("An application receives missed changes before the event that resumes it")
  func background() {
    var world = World()
    let id = world.makeVoIP(mail, .active)
    let socket = world.manage(id)
    world.ask { .operation(.sendToBackground($0, mail)) }
    world.acknowledgeAll(id)
    world.feed(.systemChanged(nil, zone, for: nil))
    world.forget()
    world.feed(.socket(.ready(id, [SocketReadiness(socket, .data)])))
    #expect(world.notices(id).first == .systemChanges([zone]))
    #expect(world.notices(id).count == 2)
  }

  @Test("A suspended application that a restarted daemon cannot stop receives missed changes")
  func suspensionLost() throws {
    var world = World()
    let id = world.make(mail, .suspended)
    world.feed(.systemChanged(nil, zone, for: nil))
    world.suspending = .failing
    world.forget()
    try world.crash()
    #expect(world.state(id) == .background)
    #expect(world.notices(id) == [.systemChanges([zone])])
  }

  @Test("An application without an event stream receives missed changes when it opens one")
  func withoutStream() {
    var world = World()
    let id = world.make(mail, .background)
    world.feed(.application(.streamClosed(id)))
    world.forget()
    for change in [zone, day, zone] { world.feed(.systemChanged(nil, change, for: nil)) }
    #expect(world.notices(id).isEmpty)
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    #expect(world.notices(id) == [.systemChanges([day, zone])])
  }

  @Test("Missed changes follow the reply that opens the event stream")
  func afterRegistration() throws {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    world.feed(.operation(.launch(nil, mail, target: .background, reason: .operator)))
    let id = try #require(world.scheduler.running.first)
    world.advance(by: .seconds(20))
    #expect(world.state(id) == .suspended)
    world.feed(.systemChanged(nil, zone, for: nil))
    world.forget()
    let request = world.newRequest()
    world.feed(.application(.openStream(request, id, named: mail.id)))
    let answered = world.effects.firstIndex {
      if case .reply(request, .registered) = $0 { true } else { false }
    }
    let told = try #require(world.position(of: .notify(id, .systemChanges([zone]))))
    #expect(try #require(answered) < told)
  }

  @Test("An application receives no change from before its start")
  func before() {
    var world = World()
    world.feed(.systemChanged(nil, zone, for: nil))
    let id = world.register(mail)
    #expect(world.notices(id).isEmpty)
  }

  @Test(
    """
    A change for one user reaches only that user's applications, and replaces a held change for \
    all users
    """)
  func owner() {
    var world = World()
    let mine = world.make(mail, .suspended)
    let others = world.make(key("org.example.mail", uid: 2000), .active)
    world.forget()
    let vpn = SystemChange(kind: .custom("vpn"), value: "up")
    let down = SystemChange(kind: .custom("vpn"), value: "down")
    world.feed(.systemChanged(nil, vpn, for: nil))
    world.feed(.systemChanged(nil, zone, for: nil))
    world.feed(.systemChanged(nil, down, for: mail.owner))
    #expect(world.notices(others) == [.systemChanges([vpn]), .systemChanges([zone])])
    world.ask { .operation(.activate($0, mail)) }
    #expect(world.notices(mine) == [.systemChanges([zone, down])])
  }

  @Test("The scheduler holds one change of each kind, however many come")
  func flood() {
    var world = World()
    let id = world.make(mail, .suspended)
    world.forget()
    for number in 0..<10_000 {
      let change = SystemChange(kind: .custom("load"), value: "\(number)")
      world.feed(.systemChanged(nil, change, for: nil))
    }
    world.ask { .operation(.activate($0, mail)) }
    let last = SystemChange(kind: .custom("load"), value: "9999")
    #expect(world.notices(id) == [.systemChanges([last])])
  }

  @Test("§16 MaxCustomChanges limits the held custom changes of each user")
  func quota() {
    var world = World { $0.customChangesMax = 2 }
    func post(_ name: String, for owner: UserID? = nil) -> Reply? {
      world.ask { .systemChanged($0, SystemChange(kind: .custom(name)), for: owner) }
    }
    for name in ["a", "b", "c", "d"] { #expect(post(name) == .done) }
    let id = world.make(mail, .suspended)
    let refusal = Reply.refused(.quotaExceeded(name: "MaxCustomChanges", limit: 2))
    #expect(post("e") == .done && post("f") == .done && post("g") == refusal)
    #expect(post("e") == .done, "a known name does not count")
    #expect(post("g", for: mail.owner) == .done)
    #expect(world.ask { .systemChanged($0, clock, for: nil) } == .done)
    world.ask { .operation(.activate($0, mail)) }
    #expect(post("g") == .done)
    #expect(world.state(id).isForeground)
  }

  @Test("§15 A suspended application of one user does not use up MaxCustomChanges of another user")
  func quotaOfOthers() {
    var world = World { $0.customChangesMax = 1 }
    let id = world.make(mail, .suspended)
    func post(_ name: String, for owner: UserID) -> Reply? {
      world.ask { .systemChanged($0, SystemChange(kind: .custom(name)), for: owner) }
    }
    #expect(post("held", for: mail.owner) == .done)
    for name in ["a", "b", "c"] { #expect(post(name, for: UserID(2000)) == .done) }
    world.forget()
    world.ask { .operation(.activate($0, mail)) }
    #expect(world.notices(id) == [.systemChanges([SystemChange(kind: .custom("held"))])])
  }

  @Test("§15 Held changes survive the daemon's death")
  func daemonDies() throws {
    var world = World()
    let id = world.make(mail, .suspended)
    world.feed(.systemChanged(nil, zone, for: nil))
    try world.crash()
    world.forget()
    world.ask { .operation(.activate($0, mail)) }
    #expect(world.notices(id) == [.systemChanges([zone])])
  }
}

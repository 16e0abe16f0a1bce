import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire
import Testing

@testable import TaskSchedulerDaemon

/// Tests without agents. The integration tests `LocationQuestionTests` have agents.
@Suite("§17: The user is asked whether an application may learn the location")
struct LocationQuestionsTests {
  private let machine = Machine()
  private let agents = AgentNotifications(log: Log(target: .stderr, level: .error))
  private let questions: LocationQuestions
  private let ann = UserID(1000)
  private let bob = UserID(1001)
  private let maps: ApplicationKey
  private let games: ApplicationKey

  /// The stand-in for the rest of the daemon: the outstanding questions, the manifests, and the
  /// agents.
  private final class Machine {
    var open: [ApplicationKey] = []
    var manifests: [ApplicationID: ApplicationManifest] = [:]
    var attached: Set<UserID> = []
    var shown: [(user: UserID, notice: SessionInterface.Notification)] = []
    var closed: [(user: UserID, notice: SessionInterface.WithdrawnNotification)] = []
    var events: [LocationEvent] = []

    func take(_ order: SessionInterface.Attach.Output, _ user: UserID) -> Bool {
      guard attached.contains(user) else { return false }
      if let notice = order.show { shown.append((user, notice)) }
      if let notice = order.close { closed.append((user, notice)) }
      return true
    }
  }

  init() throws {
    maps = ApplicationKey(try #require(ApplicationID("org.example.maps")), owner: ann)
    games = ApplicationKey(try #require(ApplicationID("org.example.games")), owner: bob)
    questions = LocationQuestions(
      agents,
      .init(
        questions: { [machine] user in machine.open.filter { $0.owner == user } },
        manifest: { [machine] in machine.manifests[$0] },
        post: { [machine] in machine.events.append($0) }))
    machine.attached = [ann, bob]
    agents.send = { [machine] in machine.take($0, $1) }
  }

  /// Asks about an application, as the scheduler does.
  private func ask(_ key: ApplicationKey) -> SessionInterface.Notification? {
    machine.open.append(key)
    questions.show(key)
    return machine.shown.last?.notice
  }

  private func manifest(
    _ id: ApplicationID, _ services: [LocationService], purpose: String? = nil
  ) -> ApplicationManifest {
    var manifest = ApplicationManifest(id: id, file: "f")
    manifest.locationServices = services
    manifest.locationPurpose = purpose
    return manifest
  }

  private let name = DesktopName(number: 7, service: "bus :1.2")

  // MARK: The notification

  @Test("The question names the application and its purpose, and has the actions allow and deny")
  func content() throws {
    machine.manifests[maps.id] = manifest(maps.id, [.updates], purpose: "Shows the way.")
    machine.manifests[maps.id]?.displayName = "Maps"
    let notice = try #require(ask(maps))
    #expect(machine.shown.map(\.user) == [ann])
    #expect(notice.title == "Maps wants to use your location")
    #expect(notice.body == "Shows the way.")
    #expect(notice.application == "org.example.maps")
    #expect(notice.applicationName == "Maps")
    #expect(notice.actions.map(\.id) == ["allow", "deny"])
    #expect(notice.actions.map(\.title) == ["Allow", "Don't Allow"])
    #expect(notice.urgency == .critical, "services show it until the user closes it")
    #expect(notice.shown == nil)
  }

  @Test(
    "Without a purpose, the question says what the application asks for",
    arguments: [
      ([], "It wants to know where you are."),
      ([.updates], "It wants to know where you are."),
      (
        [.significantChanges, .regions],
        "It wants to know when you have moved by about 500 m and when you enter or leave certain "
          + "places."
      ),
      (
        [.updates, .significantChanges, .regions],
        "It wants to know where you are, when you have moved by about 500 m, and when you enter or "
          + "leave certain places."
      ),
    ] as [([LocationService], String)])
  func services(_ services: [LocationService], _ body: String) throws {
    machine.manifests[maps.id] = manifest(maps.id, services)
    #expect(ask(maps)?.body == body)
  }

  @Test("Without a manifest, or with that of another user, the question names the id")
  func withoutManifest() throws {
    let notice = try #require(ask(games))
    #expect(notice.title == "org.example.games wants to use your location")
    #expect(notice.body == "It wants to know where you are.")
    machine.manifests[maps.id] = manifest(maps.id, [.regions], purpose: "Shows the way.")
    machine.manifests[maps.id]?.account = try Users.user(named: "root")
    let other = try #require(ask(maps))
    #expect(other.title == "org.example.maps wants to use your location")
    #expect(other.body == "It wants to know where you are.")
  }

  @Test("The ids of questions differ for applications and users, and are stable")
  func ids() {
    let keys = [maps, games, ApplicationKey(maps.id, owner: bob)]
    let ids = keys.map { LocationQuestion($0, nil).id }
    #expect(Set(ids).count == 3)
    #expect(ids == keys.map { LocationQuestion($0, manifest($0.id, [.updates])).id })
    #expect(ids.allSatisfy { (LocationQuestion.idBase..<IncomingCall.idBase).contains($0) })
    #expect(ids.allSatisfy { questions.contains(Int($0)) })
    for id in [0, Int(LocationQuestion.idBase) - 1, Int(IncomingCall.idBase), -1, .max] {
      #expect(!questions.contains(id))
    }
  }

  // MARK: Answers

  @Test(
    "The actions allow and deny decide; other actions do not",
    arguments: [("allow", LocationAuthorization.authorized), ("deny", .denied)])
  func answers(_ action: String, _ authorization: LocationAuthorization) throws {
    let id = try #require(ask(maps)).id
    questions.choose(id, action: "other", by: ann)
    #expect(machine.events == [])
    questions.choose(id, action: action, by: ann)
    #expect(machine.events == [.authorize(nil, maps, authorization)])
  }

  @Test("Only the owner of the application can answer, and only while the question is open")
  func refused() throws {
    let id = try #require(ask(maps)).id
    questions.choose(id, action: "allow", by: bob)
    questions.choose(id + 1, action: "allow", by: ann)
    machine.open = []
    questions.choose(id, action: "allow", by: ann)
    #expect(machine.events == [])
  }

  @Test("An answer that the user gave while no daemon ran counts")
  func early() throws {
    machine.open = [maps]
    questions.choose(Int(LocationQuestion(maps, nil).id), action: "allow", by: ann)
    #expect(machine.events == [.authorize(nil, maps, .authorized)])
  }

  @Test("The choice of the notification itself decides nothing, and the question is shown again")
  func defaultAction() throws {
    let first = try #require(ask(maps))
    questions.choose(first.id, action: nil, by: ann)
    #expect(machine.events == [])
    #expect(machine.shown.map(\.notice.id) == [first.id, first.id])
    #expect(machine.shown[1].notice.firedAt > first.firedAt)
  }

  @Test("The order to close a decided question has the name under which the service shows it")
  func withdrawn() throws {
    let id = try #require(ask(maps)).id
    questions.isShown(id, as: name, to: bob)
    questions.isShown(id, as: name, to: ann)
    questions.hide(maps)
    #expect(machine.closed.map(\.user) == [ann])
    #expect(machine.closed.first?.notice.id == id)
    #expect(machine.closed.first?.notice.shown == SessionInterface.ShownNotification(name))
  }

  // MARK: Closing and attaching

  @Test("A question that the user closes is not shown again before the agent attaches again")
  func closed() throws {
    let id = try #require(ask(maps)).id
    questions.isShown(id, as: name, to: ann)
    questions.isClosed(id, of: ann)
    #expect(machine.shown.count == 1)
    #expect(machine.events == [])
    #expect(questions.orders(for: ann).map(\.shown) == [nil])
  }

  @Test("An agent that attaches is told the open questions of its user, and their names")
  func attached() throws {
    machine.attached = [bob]
    _ = ask(maps)
    _ = ask(games)
    #expect(machine.shown.map(\.user) == [bob])
    #expect(questions.orders(for: ann).map(\.title).count == 1)
    let id = try #require(questions.orders(for: ann).first).id
    questions.isShown(id, as: name, to: ann)
    let order = try #require(questions.orders(for: ann).first)
    #expect(order.shown == SessionInterface.ShownNotification(name))
    #expect(questions.orders(for: UserID(1)).isEmpty)
  }

  @Test("An agent that attaches again does not show a question twice")
  func sameFiring() throws {
    let first = try #require(ask(maps))
    #expect(questions.orders(for: ann).map(\.firedAt) == [first.firedAt])
  }

  @Test("A question that ended with the notification service of an earlier session is shown again")
  func endedWithService() throws {
    let first = try #require(ask(maps))
    questions.isShown(first.id, as: name, to: ann)
    // The user logs out and in again. The service of the earlier session is gone.
    machine.shown = []
    _ = questions.orders(for: ann)
    questions.isClosed(first.id, of: ann)
    let again = try #require(machine.shown.first?.notice)
    #expect(again.id == first.id)
    #expect(again.firedAt > first.firedAt)
    #expect(again.shown == nil)
    questions.isShown(first.id, as: name, to: ann)
    questions.isClosed(first.id, of: ann)
    #expect(machine.shown.count == 1, "now the user has closed it")
  }
}

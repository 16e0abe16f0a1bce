import LinuxSystem
import TaskSchedulerWire
import TestSupport
import Testing

/// Contract §17, with the real daemon. The test simulates the locations and the session agent
/// (`TestAgent`). `LocationQuestionsTests` has the cases that need no daemon.
@Suite("§17: The user decides which applications learn the location (contract.md#location-consent)")
struct LocationQuestionTests {
  private let id = "org.test.maps"
  private let manifest = """
    name = "Maps"
    location = ["updates", "regions"]
    location-purpose = "Shows the way."
    """

  private func fixture(location: [(String, String)] = []) throws -> DaemonFixture {
    try DaemonFixture(.init(manifests: [(id, manifest)], location: location))
  }

  private func application(_ daemon: DaemonFixture) throws -> TestApplication {
    let application = try TestApplication(daemon, id)
    try application.registered()
    return application
  }

  /// Simulates a location, starts updates, and returns the authorization.
  private func start(_ application: TestApplication, _ daemon: DaemonFixture) throws -> JSONValue {
    try daemon.post(latitude: 0, longitude: 0)
    let answer = try application.call("StartUpdatingLocation")
    return try #require(answer["parameters"]?["authorization"], "\(answer)")
  }

  private func number(_ notice: JSONValue?) throws -> Int64 {
    guard case .integer(let id)? = notice?["id"] else {
      throw TestApplication.Unexpected(line: "\(notice ?? .null)")
    }
    return id
  }

  private func authorization(_ daemon: DaemonFixture) throws -> String? {
    try daemon.call(ControlInterface.GetLocation.self, .init()).uses
      .first { $0.application == id }?.authorization.rawValue
  }

  // MARK: Answers

  @Test("Allow authorizes the application, which then receives locations; the question disappears")
  func allowed() throws {
    let daemon = try fixture()
    let agent = try TestAgent(daemon)
    let application = try application(daemon)
    #expect(try start(application, daemon) == "notDetermined")
    let question = try #require(try agent.nextNotice())
    #expect(question["title"] == "Maps wants to use your location")
    #expect(question["body"] == "Shows the way.")
    #expect(question["application"] == .string(id))
    #expect(
      question["actions"]
        == [["id": "allow", "title": "Allow"], ["id": "deny", "title": "Don't Allow"]])
    try agent.choose(number(question), action: "allow")
    #expect(try application.nextEvent(with: "locationAuthorization") == "authorized")
    #expect(try agent.nextOrder("close")?["id"] == question["id"])
    try daemon.post(latitude: 0, longitude: 1.5)
    #expect(try application.nextEvent(with: "location")["longitude"] == 1.5)
  }

  @Test(
    """
    Don't Allow denies; the answer survives kill -9 and a reboot, and the user is not asked again
    """)
  func denied() throws {
    var daemon = try fixture()
    let agent = try TestAgent(daemon)
    let first = try application(daemon)
    #expect(try start(first, daemon) == "notDetermined")
    try agent.choose(number(agent.nextNotice()), action: "deny")
    #expect(try first.nextEvent(with: "locationAuthorization") == "denied")
    for isReboot in [false, true] {
      daemon = try daemon.killed(rebooting: isReboot)
      // If the daemon ordered the question again, `TestAgent` would receive that order before
      // `synchronized`, and fail.
      let agent = try TestAgent(daemon)
      let next = try TestApplication(daemon, id)
      if isReboot {
        try next.registered()
        try daemon.post(latitude: 0, longitude: 0)
        let answer = try next.call("StartUpdatingLocation")
        #expect(answer.errorName == "LocationDenied")
        #expect(answer["parameters"]?["reason"] == "user")
      }
      #expect(try authorization(daemon) == "denied")
      withExtendedLifetime(agent) {}
    }
  }

  @Test("Other agents and other ids decide nothing")
  func foreign() throws {
    let daemon = try fixture()
    let agent = try TestAgent(daemon)
    let application = try application(daemon)
    #expect(try start(application, daemon) == "notDetermined")
    let question = try number(agent.nextNotice())
    try agent.choose(question + 1, action: "allow")
    try agent.choose(question, action: "perhaps")
    #expect(try authorization(daemon) == "notDetermined")
  }

  // MARK: When the question is shown

  @Test("An agent that attaches later shows the question")
  func laterAgent() throws {
    let daemon = try fixture()
    let application = try application(daemon)
    #expect(try start(application, daemon) == "notDetermined")
    let agent = try TestAgent(daemon, takesNotices: true)
    try agent.choose(number(agent.nextNotice()), action: "allow")
    #expect(try application.nextEvent(with: "locationAuthorization") == "authorized")
  }

  @Test("A daemon that is killed before the answer shows the question again, and takes the answer")
  func killed() throws {
    let daemon = try fixture()
    let agent = try TestAgent(daemon)
    let application = try application(daemon)
    #expect(try start(application, daemon) == "notDetermined")
    let question = try number(agent.nextNotice())
    let next = try daemon.killed()
    let nextAgent = try TestAgent(next, takesNotices: true)
    #expect(try number(nextAgent.nextNotice()) == question)
    try nextAgent.choose(question, action: "allow")
    #expect(try nextAgent.nextOrder("close")?["id"] == .integer(question))
    #expect(try authorization(next) == "authorized")
  }

  @Test("A question that the user dismisses stays undecided, and an operator can decide")
  func closed() throws {
    let daemon = try fixture()
    let agent = try TestAgent(daemon)
    let application = try application(daemon)
    #expect(try start(application, daemon) == "notDetermined")
    try agent.close(number(agent.nextNotice()))
    #expect(try authorization(daemon) == "notDetermined")
    #expect(try start(application, daemon) == "notDetermined")
    try daemon.call(
      ControlInterface.SetLocationAuthorization.self,
      .init(application: id, authorization: .authorized))
    #expect(try application.nextEvent(with: "locationAuthorization") == "authorized")
    // The next order withdraws the question. No order to show it again precedes the withdrawal.
    let order = try agent.orders.receive()
    #expect(order?["parameters"]?["show"] == nil && order?["parameters"]?["close"] != nil)
  }

  // MARK: Settings

  @Test("[location] allow and deny decide without a question, even after a reload")
  func settings() throws {
    let daemon = try fixture(location: [("allow", "[\"\(id)\"]")])
    let agent = try TestAgent(daemon)
    let application = try application(daemon)
    #expect(try start(application, daemon) == "authorized")
    daemon.folder.write("taskschedd.toml", "[location]\nallow = \"all\"\ndeny = [\"\(id)\"]\n")
    try daemon.call(ControlInterface.Reload.self, .init())
    #expect(try application.nextEvent(with: "locationAuthorization") == "denied")
    let answer = try application.call("StartUpdatingLocation")
    #expect(answer.errorName == "LocationDenied")
    #expect(answer["parameters"]?["reason"] == "settings")
    daemon.folder.write("taskschedd.toml", "")
    try daemon.call(ControlInterface.Reload.self, .init())
    #expect(try application.nextEvent(with: "locationAuthorization") == "notDetermined")
    #expect(try start(application, daemon) == "notDetermined")
    #expect(try agent.nextNotice()?["title"] == "Maps wants to use your location")
  }

  @Test("A daemon that takes over applies the settings that changed while no daemon ran")
  func settingsOfTakeover() throws {
    let daemon = try fixture(location: [("deny", "[\"\(id)\"]")])
    let application = try application(daemon)
    try daemon.post(latitude: 0, longitude: 0)
    #expect(try application.call("StartUpdatingLocation").errorName == "LocationDenied")
    try daemon.die()
    let next = try DaemonFixture(
      .init(manifests: [(id, manifest)], location: [("allow", "\"all\"")]), after: daemon)
    try application.process.writeLine("reconnect")
    _ = try application.nextEvent(with: "registered")
    #expect(try start(application, next) == "authorized")
  }
}

import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerWire
import TestSupport
import Testing

@testable import TaskSchedulerDaemon

/// Tests without ModemManager, logind and agents. `ModemCallsTests` tests how answers reach
/// ModemManager, and `IncomingCallTests` tests all parts together.
@Suite("§13: Incoming calls are shown to users (contract.md#call-incoming)")
struct IncomingCallsTests {
  private let watcher: ChangeWatcher
  private let machine = Machine()
  private let agents = AgentNotifications(log: Log(target: .stderr, level: .error))
  private let ann = UserID(1000)
  private let bob = UserID(1001)
  private let daemonUser = UserID(0)
  private let call = IncomingCall(path: "/call/1", service: ":1.5", number: "+491234567")

  /// The stand-in for the rest of the daemon: the users, the setting, and the requests of
  /// `IncomingCalls`.
  private final class Machine {
    var users = LocalUsers.unknown
    var attached: Set<UserID> = []
    var application: (id: ApplicationID, manifest: Manifest?)?
    var shown: [(user: UserID, notice: SessionInterface.Notification)] = []
    var closed: [UserID] = []
    var answers: [(call: IncomingCall, answer: CallAnswer)] = []
    var fail: (String) -> Void = { _ in }
    /// If not nil, each request to ModemManager fails at once, for this reason.
    var refusal: String?
    var events: [SessionEvent] = []

    func take(_ order: SessionInterface.Attach.Output, _ user: UserID) -> Bool {
      guard attached.contains(user) else { return false }
      if let notice = order.show { shown.append((user, notice)) }
      if order.close != nil { closed.append(user) }
      return true
    }
  }

  init() throws {
    watcher = try ChangeWatcher()
    machine.users = .known([ann])
    machine.attached = [ann, bob, daemonUser]
    agents.send = { [machine] in machine.take($0, $1) }
  }

  private func start(
    ringInterval: Duration = .seconds(1000), announced: Set<String> = []
  ) throws -> IncomingCalls {
    try IncomingCalls(
      agents, loop: watcher.loop, log: Log(target: .stderr, level: .error), announced: announced,
      ringInterval: ringInterval,
      .init(
        localUsers: { [machine] in machine.users }, ownUser: daemonUser,
        isAttached: { [machine] in machine.attached.contains($0) },
        application: { [machine] in machine.application },
        answer: { [machine] call, answer, failed in
          machine.answers.append((call, answer))
          machine.fail = failed
          if let refusal = machine.refusal { failed(refusal) }
        },
        post: { [machine] in machine.events.append($0) }))
  }

  private func key(_ name: String, _ owner: UserID) throws -> ApplicationKey {
    ApplicationKey(try #require(ApplicationID(name)), owner: owner)
  }

  private var id: Int { Int(clamping: call.id) }

  // MARK: The notification

  @Test("A call is shown with its number, urgent, with a ringing sound and two actions")
  func content() throws {
    let calls = try start()
    calls.update([call])
    let (user, notice) = try #require(machine.shown.first)
    #expect(machine.shown.count == 1)
    #expect(user == ann)
    #expect(notice.id == id)
    #expect(notice.title == "+491234567")
    #expect(notice.body == "Incoming call")
    #expect(notice.urgency == .critical)
    #expect(notice.category == "call.incoming")
    #expect(notice.sound == "phone-incoming-call")
    #expect(notice.actions.map(\.id) == ["answer", "decline"])
    #expect(notice.application == "taskschedd")
    #expect(notice.applicationName == "Phone")
  }

  @Test("With CallApplication, the notification is that of the application")
  func application() throws {
    let phone = try key("org.test.phone", ann)
    machine.application = (
      phone.id, Manifest(id: phone.id, displayName: "Telephone", owner: daemonUser)
    )
    let calls = try start()
    calls.update([call])
    #expect(machine.shown.map(\.notice.application) == ["org.test.phone"])
    #expect(machine.shown.map(\.notice.applicationName) == ["Telephone"])
  }

  @Test(
    "The title is the number with its unprintable characters escaped, of at most 128 characters",
    arguments: [
      ("", "Unknown number"), ("1\n\u{202e}2", "1\\n\\u202e2"),
      (String(repeating: "1", count: 500), String(repeating: "1", count: 128)),
      (String(repeating: "\n", count: 100), String(repeating: "\\n", count: 64)),
    ])
  func title(_ number: String, _ title: String) throws {
    #expect(IncomingCall(path: "/", service: "", number: number).title == title)
  }

  @Test("The ids of notifications differ for calls and for ModemManagers, and are stable")
  func ids() {
    var other = call
    other.path = "/call/2"
    var later = call
    later.service = ":1.6"
    var known = call
    known.number = ""
    #expect(Set([call.id, other.id, later.id]).count == 3)
    #expect(known.id == call.id)
    #expect((IncomingCall.idBase..<RecordingNotices.idBase).contains(call.id))
  }

  @Test("The notification fires again while the call rings, each time at a later time")
  func repeats() throws {
    let calls = try start(ringInterval: .milliseconds(1))
    calls.update([call])
    try watcher.wait(for: "four firings") { machine.shown.count >= 4 }
    let times = machine.shown.map(\.notice.firedAt)
    #expect(times == Set(times).sorted())
    #expect(Set(machine.shown.map(\.notice.id)) == [id])
    calls.update([])
    let count = machine.shown.count
    try watcher.loop.turn(within: .milliseconds(20))
    #expect(machine.shown.count == count)
    #expect(machine.closed == [ann])
  }

  @Test("A number that arrives late is shown")
  func lateNumber() throws {
    let calls = try start()
    var first = call
    first.number = ""
    calls.update([first])
    calls.update([call])
    #expect(machine.shown.map(\.notice.title) == ["Unknown number", "+491234567"])
  }

  @Test("The service's name of the notification is passed on until the notification is closed")
  func names() throws {
    let calls = try start()
    calls.update([call])
    let name = DesktopName(number: 7, service: "bus :1.2")
    calls.isShown(id, as: name, to: bob)
    calls.isShown(id, as: name, to: ann)
    #expect(calls.orders(for: ann).map(\.shown) == [SessionInterface.ShownNotification(name)])
    calls.isClosed(id, of: ann)
    #expect(calls.orders(for: ann).map(\.shown) == [nil])
    #expect(calls.orders(for: bob) == [])
  }

  // MARK: Users

  @Test("Only the users at the machine's screens see and answer a call")
  func privacy() throws {
    let calls = try start()
    calls.update([call])
    calls.choose(id, action: "answer", by: bob)
    calls.choose(id, action: "decline", by: daemonUser)
    #expect(machine.answers.isEmpty)
    #expect(machine.shown.map(\.user) == [ann])
  }

  @Test("When another user's session becomes active, that user sees the call, and the first not")
  func switched() throws {
    let calls = try start()
    calls.update([call])
    machine.users = .known([bob])
    calls.usersChanged()
    #expect(machine.shown.map(\.user) == [ann, bob])
    #expect(machine.closed == [ann])
    calls.choose(id, action: "answer", by: ann)
    #expect(machine.answers.isEmpty)
  }

  @Test("Without logind, the daemon's own user sees the call")
  func withoutLogind() throws {
    machine.users = .noLogind
    let calls = try start()
    calls.update([call])
    #expect(machine.shown.map(\.user) == [daemonUser])
    calls.choose(id, action: nil, by: daemonUser)
    #expect(machine.answers.map(\.answer) == [.accept])
  }

  @Test("While logind has not answered, no user sees the call")
  func unknownUsers() throws {
    machine.users = .unknown
    let calls = try start()
    calls.update([call])
    #expect(machine.shown.isEmpty)
    machine.users = .known([ann])
    calls.usersChanged()
    #expect(machine.shown.map(\.user) == [ann])
  }

  // MARK: Answers

  @Test(
    "The notification and its action answer accept the call; decline ends it",
    arguments: [
      (String?.none, CallAnswer.accept), (String?("answer"), CallAnswer.accept),
      (String?("decline"), CallAnswer.decline),
    ])
  func answers(_ action: String?, _ answer: CallAnswer) throws {
    let calls = try start()
    calls.update([call])
    calls.choose(id, action: "other", by: ann)
    #expect(machine.answers.isEmpty)
    calls.choose(id, action: action, by: ann)
    calls.choose(id, action: action, by: ann)
    #expect(machine.answers.map(\.answer) == [answer])
    #expect(machine.answers.first?.call == call)
  }

  @Test("A call that ModemManager does not answer rings again, and can be answered again")
  func refused() throws {
    let calls = try start()
    calls.update([call])
    calls.choose(id, action: "answer", by: ann)
    machine.fail("the modem refuses")
    #expect(machine.shown.count == 2)
    calls.choose(id, action: "decline", by: ann)
    #expect(machine.answers.map(\.answer) == [.accept, .decline])
  }

  @Test("An answer that arrives before the calls and users are known is carried out then")
  func early() throws {
    machine.users = .unknown
    let calls = try start()
    calls.choose(id, action: "decline", by: bob)
    calls.choose(id, action: "answer", by: ann)
    machine.users = .known([ann])
    calls.usersChanged()
    #expect(machine.answers.isEmpty)
    calls.update([call])
    #expect(machine.answers.map(\.answer) == [.accept])
  }

  @Test("The answer activates CallApplication of the user; decline does not")
  func activates() throws {
    let phone = try key("org.test.phone", ann)
    machine.application = (phone.id, nil)
    let calls = try start(announced: [call.path])
    calls.update([call])
    calls.choose(id, action: "decline", by: ann)
    #expect(machine.events == [])
    machine.fail("the modem refuses")
    calls.choose(id, action: "answer", by: ann)
    #expect(machine.events == [.callAnswered(phone)])
  }

  @Test("An answer that fails at once does not activate CallApplication, and the call rings again")
  func failsAtOnce() throws {
    let phone = try key("org.test.phone", ann)
    machine.application = (phone.id, nil)
    machine.refusal = "the message bus is not running"
    let calls = try start(announced: [call.path])
    calls.update([call])
    calls.choose(id, action: "answer", by: ann)
    #expect(machine.answers.map(\.answer) == [.accept])
    #expect(machine.events == [])
    #expect(machine.shown.count == 2)
    machine.refusal = nil
    calls.choose(id, action: "answer", by: ann)
    #expect(machine.events == [.callAnswered(phone)])
  }

  // MARK: CallApplication

  @Test("A call is announced once to CallApplication of each user at the machine's screens")
  func announces() throws {
    let (one, two) = (try key("org.test.phone", ann), try key("org.test.phone", bob))
    machine.application = (one.id, Manifest(id: one.id, owner: daemonUser))
    machine.users = .known([ann, bob])
    let calls = try start()
    calls.update([call])
    calls.update([call])
    calls.usersChanged()
    #expect(machine.events == [.incomingCall(one), .incomingCall(two)])
  }

  @Test("A call is always announced to the application of the user that the manifest names")
  func namedUser() throws {
    let (one, two) = (try key("org.test.phone", ann), try key("org.test.phone", bob))
    machine.application = (one.id, Manifest(id: one.id, owner: bob, namesUser: true))
    let calls = try start()
    calls.update([call])
    #expect(machine.events == [.incomingCall(one), .incomingCall(two)])
  }

  @Test(
    "If no user is at a screen, a call is announced to the application that would be launched",
    arguments: [LocalUsers.noLogind, .known([])])
  func noUser(_ users: LocalUsers) throws {
    let phone = try key("org.test.phone", daemonUser)
    machine.application = (phone.id, Manifest(id: phone.id, owner: daemonUser))
    machine.users = users
    let calls = try start()
    calls.update([call])
    #expect(machine.events == [.incomingCall(phone)])
  }

  @Test("If logind does not answer, a call is announced at the second ring")
  func hangingLogind() throws {
    let phone = try key("org.test.phone", daemonUser)
    machine.application = (phone.id, nil)
    machine.users = .unknown
    let calls = try start(ringInterval: .milliseconds(1))
    calls.update([call])
    #expect(machine.events == [])
    try watcher.wait(for: "the second ring") { !machine.events.isEmpty }
    #expect(machine.events == [.incomingCall(phone)])
  }

  @Test("A call that an earlier daemon has announced is shown, and not announced again")
  func announcedBefore() throws {
    machine.application = (try key("org.test.phone", ann).id, nil)
    let calls = try start(announced: [call.path])
    calls.update([call])
    #expect(machine.events == [])
    #expect(machine.shown.count == 1)
  }
}

import Testing

@testable import TaskSchedulerCore

/// The causes of transitions in the table in contract §2.
enum Cause: String, CaseIterable {
  case launchedToForeground = "launch to the foreground"
  case launchedInBackground = "launch in the background"
  case interrupted = "interrupted, or visible without focus"
  case interruptionOver = "interruption over"
  case otherActivated = "another application activated"
  case sentAway = "sent away"
  case nothingEntitles = "nothing entitles it to run any longer"
  case event = "an event that it must handle"
  case activated = "activated"
  case terminated = "terminated"
  case sentAwayUnsupported = "sent away where the machine does not support multitasking"
  case sentAwayOptedOut = "sent away where its manifest opts out"
  case leaderExits = "its leader exits"
}

/// One row of the table of transitions in contract §2.
struct Row: CustomTestStringConvertible {
  let from: ApplicationState
  let cause: Cause
  let callbacks: [CallbackKind]
  let to: ApplicationState
  /// The state of an aware application until it has acknowledged the first callback; nil if the
  /// application is in the state `to` from the start.
  let first: ApplicationState?

  init(
    _ from: ApplicationState, _ cause: Cause, _ callbacks: [CallbackKind], _ to: ApplicationState,
    first: ApplicationState? = nil
  ) {
    self.from = from
    self.cause = cause
    self.callbacks = callbacks
    self.to = to
    self.first = first
  }

  var testDescription: String {
    let said = callbacks.isEmpty ? "none" : callbacks.map(\.rawValue).joined(separator: ", ")
    let states = (first.map { "\($0), then " } ?? "") + "\(to)"
    return "\(from) | \(cause.rawValue) | \(said) | \(states)"
  }
}

private let launchCallbacks: [CallbackKind] = [.didFinishLaunching, .didBecomeActive]
private let returnCallbacks: [CallbackKind] = [.willEnterForeground, .didBecomeActive]
private let leaveCallbacks: [CallbackKind] = [.willResignActive, .didEnterBackground]
private let endCallbacks: [CallbackKind] = [.willResignActive, .willTerminate]

let table: [Row] = [
  Row(.notRunning, .launchedToForeground, launchCallbacks, .active, first: .inactive),
  Row(.notRunning, .launchedInBackground, [.didFinishLaunching], .background),
  Row(.active, .interrupted, [.willResignActive], .inactive),
  Row(.inactive, .interruptionOver, [.didBecomeActive], .active),
  Row(.inactive, .otherActivated, [.didEnterBackground], .background),
  Row(.active, .otherActivated, leaveCallbacks, .background),
  Row(.active, .sentAway, leaveCallbacks, .background),
  Row(.inactive, .sentAway, [.didEnterBackground], .background),
  Row(.background, .nothingEntitles, [], .suspended),
  Row(.suspended, .event, [], .background),
  Row(.background, .activated, returnCallbacks, .active, first: .inactive),
  Row(.suspended, .activated, returnCallbacks, .active, first: .inactive),
  Row(.background, .terminated, [.willTerminate], .notRunning),
  Row(.suspended, .terminated, [], .notRunning),
  Row(.active, .terminated, endCallbacks, .notRunning),
  Row(.inactive, .terminated, [.willTerminate], .notRunning),
  Row(.active, .sentAwayUnsupported, endCallbacks, .notRunning),
  Row(.inactive, .sentAwayUnsupported, [.willTerminate], .notRunning),
  Row(.active, .sentAwayOptedOut, endCallbacks, .notRunning),
  Row(.inactive, .sentAwayOptedOut, [.willTerminate], .notRunning),
  Row(.active, .leaderExits, [], .notRunning),
  Row(.inactive, .leaderExits, [], .notRunning),
  Row(.background, .leaderExits, [], .notRunning),
  Row(.suspended, .leaderExits, [], .notRunning),
]

extension World {
  mutating func perform(_ cause: Cause, _ app: ApplicationKey, _ id: InstanceID) {
    switch cause {
    case .launchedToForeground:
      ask { .operation(.launch($0, app, target: .foreground, reason: .operator)) }
    case .launchedInBackground:
      ask { .operation(.launch($0, app, target: .background, reason: .boot)) }
    case .interrupted: ask { .operation(.deactivate($0, app)) }
    case .interruptionOver, .activated: ask { .operation(.activate($0, app)) }
    case .otherActivated: register(key("org.example.other"))
    case .sentAway, .sentAwayOptedOut, .sentAwayUnsupported:
      ask { .operation(.sendToBackground($0, app)) }
    case .nothingEntitles: end(id, TaskID(1))
    case .event: feed(.socket(.ready(id, [SocketReadiness(manage(id), .data)])))
    case .terminated: ask { .operation(.terminate($0, app, byUser: false)) }
    case .leaderExits: feed(.process(.leaderExited(id, .exited(code: 0))))
    }
  }
}

@Suite("§2 The table of transitions")
struct TransitionTableTests {
  @Test(
    "Each row of the table holds: from | cause | callbacks, in order | to",
    arguments: table, [true, false])
  func row(_ row: Row, isAware: Bool) {
    var world = World { $0.multitaskingSupported = row.cause != .sentAwayUnsupported }
    world.obeysTerminate = true
    let multitasking = row.cause != .sentAwayOptedOut
    let manifest = Manifest(
      id: mail.id, owner: mail.owner, backgroundModes: [.voip], multitasking: multitasking)
    world.feed(.scheduler(.manifestsChanged([manifest])))
    var id = InstanceID(1)
    if row.from != .notRunning { id = world.make(mail, row.from, isAware: isAware) }
    // A task keeps the application in the background, so that the test sees that state.
    if row.to == .background, row.from.isForeground { world.begin(id) }
    world.forget()

    world.perform(row.cause, mail, id)
    if row.from == .notRunning, isAware {
      #expect(world.delivered(id).isEmpty, "no callback comes before the event stream")
      world.ask { .application(.openStream($0, id, named: mail.id)) }
    }
    if row.to != .notRunning {
      let first = (isAware ? row.first : nil) ?? row.to
      #expect(world.state(id) == first, "only the active state waits for an acknowledgement")
    }
    if row.from == .notRunning { #expect(world.status(id)?.isAware == isAware) }
    while world.acknowledge(id) {}

    #expect(world.delivered(id) == (isAware ? row.callbacks : []))
    if row.to == .notRunning {
      #expect(world.state(id) == .notRunning)
      #expect(world.ends(of: mail).count == 1)
    }
    if row.to == .active { #expect(world.state(id) == .active) }
    let transitions = world.changes(of: mail).compactMap { change -> ApplicationState? in
      if case .transition(let from, let to, _) = change, from == row.from { to } else { nil }
    }
    // The daemon does not know whether a launched program is aware until the program opens its
    // event stream.
    let first = isAware && row.from != .notRunning ? row.first : nil
    #expect(transitions == [first ?? row.to])
  }

  @Test("Only the callback didFinishLaunching has a launch reason")
  func launchReason() {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    world.ask { .operation(.launch($0, mail, target: .foreground, reason: .location)) }
    let id = InstanceID(1)
    let reply = world.ask { .application(.openStream($0, id, named: mail.id)) }
    guard case .registered(let registration)? = reply else {
      Issue.record("the stream was refused")
      return
    }
    #expect(registration.launchReason == .location)
    world.acknowledgeAll(id)
    let reasons = world.effects.compactMap { effect -> LaunchReason?? in
      if case .deliver(_, _, let reason) = effect { .some(reason) } else { nil }
    }
    #expect(reasons == [.location, nil])
  }

  @Test("A suspended application is killed without notice, and late events do not resume it")
  func suspendedIsKilled() {
    var world = World()
    let id = world.make(mail, .suspended, isAware: false)
    world.killing = .never
    world.forget()
    world.ask { .operation(.terminate($0, mail, byUser: false)) }
    world.ask { .application(.openStream($0, id, named: mail.id)) }
    #expect(world.effects.contains(.kill(id)))
    #expect(!world.effects.contains(.resume(id)))
    #expect(!world.effects.contains(.terminate(id, .terminate)))
    #expect(world.delivered(id).isEmpty)
    #expect(world.state(id) == .suspended)
  }
}

/// A request for a state of an application. `rows` lists the causes in the table to which the
/// request can lead.
enum Request: String, CaseIterable {
  case activate, deactivate, sendToBackground, terminate

  var cause: TransitionCause {
    switch self {
    case .activate: .activate
    case .deactivate: .interruption
    case .sendToBackground: .sendAway
    case .terminate: .terminate
    }
  }

  var rows: [Cause] {
    switch self {
    case .activate: [.activated, .interruptionOver, .launchedToForeground]
    case .deactivate: [.interrupted]
    case .sendToBackground: [.sentAway]
    case .terminate: [.terminated]
    }
  }

  /// The states that the request asks for.
  var wanted: [ApplicationState] {
    switch self {
    case .activate: [.active]
    case .deactivate: [.inactive]
    case .sendToBackground: [.background, .suspended]
    case .terminate: [.notRunning]
    }
  }

  func event(_ request: RequestID, _ app: ApplicationKey) -> Event {
    switch self {
    case .activate: .operation(.activate(request, app))
    case .deactivate: .operation(.deactivate(request, app))
    case .sendToBackground: .operation(.sendToBackground(request, app))
    case .terminate: .operation(.terminate(request, app, byUser: false))
    }
  }
}

/// A state and a request for which the table has no row.
struct PairWithoutRow: CustomTestStringConvertible {
  let state: ApplicationState
  let request: Request
  var testDescription: String { "\(state) | \(request.rawValue)" }

  private static let withoutRow: [PairWithoutRow] = ApplicationState.allCases.flatMap { state in
    Request.allCases.compactMap { request in
      let isRow = table.contains { $0.from == state && request.rows.contains($0.cause) }
      return isRow ? nil : PairWithoutRow(state: state, request: request)
    }
  }

  /// The pairs in which the application is already in a requested state.
  static let done = withoutRow.filter { $0.request.wanted.contains($0.state) }
  /// The pairs in which the application is in none of the requested states.
  static let refused = withoutRow.filter { !$0.request.wanted.contains($0.state) }
}

@Suite("§2 Transitions that are not in the table")
struct RefusedTransitionTests {
  @Test(
    "A request without a row in the table is refused; the refusal names the present state",
    arguments: PairWithoutRow.refused, [true, false])
  func refused(_ pair: PairWithoutRow, isAware: Bool) {
    var world = World()
    _ = world.make(mail, pair.state, isAware: isAware)
    let before = world.scheduler.statuses(at: world.now)
    let reply = world.ask { pair.request.event($0, mail) }
    let refusal = Refusal.invalidTransition(from: pair.state, cause: pair.request.cause)
    #expect(reply == .refused(refusal))
    #expect(world.scheduler.statuses(at: world.now) == before)
    #expect(world.changes(of: mail).last == .refused(refusal))
  }

  @Test(
    "§2: A request for the present state succeeds without effect",
    arguments: PairWithoutRow.done, [true, false])
  func alreadyThere(_ pair: PairWithoutRow, isAware: Bool) {
    var world = World()
    _ = world.make(mail, pair.state, isAware: isAware)
    let before = world.scheduler.statuses(at: world.now)
    world.forget()
    let reply = world.ask { pair.request.event($0, mail) }
    #expect(reply == (world.lastEnd(mail).map { .ended($0) } ?? .done))
    #expect(world.scheduler.statuses(at: world.now) == before)
    #expect(world.effects.count == 1, "the reply is the only effect")
  }

  @Test("§2: An application that has never run can be terminated; an unknown application cannot")
  func terminateNeverRun() {
    var world = World()
    #expect(
      world.ask { .operation(.terminate($0, mail, byUser: false)) }
        == .refused(.unknownApplication(mail)))
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    #expect(world.ask { .operation(.terminate($0, mail, byUser: false)) } == .done)
    world.spawning = .never
    _ = world.ask { .operation(.launch($0, mail, target: .foreground, reason: .user)) }
    #expect(
      world.ask { .operation(.terminate($0, mail, byUser: false)) }
        == .refused(.invalidTransition(from: .notRunning, cause: .terminate)),
      "an application that is being launched cannot be terminated")
  }

  @Test(
    """
    Nine pairs of a state and a request have no row, and five of them request the \
    present state
    """)
  func complement() {
    #expect(PairWithoutRow.done.count == 5 && PairWithoutRow.refused.count == 4)
  }

  @Test(
    "A launch, a registration or an adoption of a running application is refused",
    arguments: [ApplicationState.active, .inactive, .background, .suspended])
  func alreadyRunning(_ state: ApplicationState) {
    var world = World()
    world.feed(.scheduler(.manifestsChanged([Manifest(id: mail.id, owner: mail.owner)])))
    let id = world.make(mail, state)
    let pid = world.status(id)?.leader.pid ?? 0
    let before = world.scheduler.statuses(at: world.now)
    let leader = world.newLeader()
    let adoption = Adoption(application: mail, leader: leader, target: .foreground, seat: seat0)
    let refusal = Reply.refused(.alreadyRunning(pid: pid, state: state))
    #expect(
      world.ask { .operation(.launch($0, mail, target: .foreground, reason: .user)) } == refusal)
    #expect(
      world.ask { .operation(.launch($0, mail, target: .background, reason: .boot)) } == refusal)
    #expect(
      world.ask { .application(.register($0, mail, leader, target: .foreground, seat: seat0)) }
        == refusal)
    #expect(world.ask { .operation(.adopt($0, adoption)) } == refusal)
    #expect(world.scheduler.statuses(at: world.now) == before)
  }

  @Test(
    "A report that does not fit the application's state has no effect",
    arguments: ApplicationState.allCases)
  func staleReports(_ state: ApplicationState) {
    var world = World()
    let id = world.make(mail, state)
    let before = world.scheduler.statuses(at: world.now)
    world.feed(.process(.suspensionCompleted(id)))
    world.feed(.process(.suspensionFailed(id, reason: "late")))
    world.feed(.process(.tracerChecked(id, isTraced: true)))
    world.feed(.process(.tracerChecked(id, isTraced: false)))
    world.feed(.process(.spawned(id, world.newLeader())))
    world.feed(.process(.spawnFailed(id, reason: "late")))
    world.feed(.scheduler(.deadlineReached))
    #expect(world.scheduler.statuses(at: world.now) == before)
  }
}

import EventLoop
import Glibc
import LinuxSystem
import TestSupport
import Testing

@testable import TaskSchedulerSession

/// Remote control on a real bus, with an event loop that runs while the test waits.
final class RemoteControlFixture {
  let loop: EventLoop
  let directory = TemporaryDirectory()
  var bus: SessionBus?
  private(set) var remote: RemoteControl?
  /// The players that run before remote control begins.
  private(set) var earlyPlayers: [StandInPlayer] = []
  /// The reports of the players, the oldest first.
  private(set) var reports: [[MediaPlayer]] = []
  private(set) var calls: [MediaPlayerCall] = []
  private(set) var commands: [(daemon: Int, command: MediaPlayerCommand)] = []
  private(set) var limits: [RemoteControlLimit] = []

  /// - Parameters:
  ///   - policy: further rules of the bus.
  ///   - players: the players that run before remote control begins.
  init(hasBus: Bool = true, policy: String = "", players: [String] = []) throws {
    loop = try EventLoop()
    if hasBus { try startBus(policy: policy) }
    for name in players { earlyPlayers.append(try StandInPlayer(name, on: unwrap(bus))) }
    remote = try RemoteControl(
      address: BusAddress(text: "unix:path=\(directory.file("bus"))"), loop: loop, proc: ProcFS()
    ) { [unowned self] in hear($0) }
    remote?.start()
  }

  /// The players of the newest report; nil before the first one.
  var players: [MediaPlayer]? { reports.last }

  func startBus(policy: String = "") throws {
    bus = try SessionBus(path: directory.file("bus"), policy: policy)
  }

  private func hear(_ occurrence: RemoteControl.Occurrence) {
    switch occurrence {
    case .players(let players): reports.append(players)
    case .called(let call): calls.append(call)
    case .commanded(let daemon, let command): commands.append((daemon, command))
    case .limited(let limit): limits.append(limit)
    }
  }

  /// Starts a player on the bus, and waits until it is reported.
  func startPlayer(
    _ name: String, location: SourceLocation = #_sourceLocation
  ) throws -> StandInPlayer {
    let player = try StandInPlayer(name, on: try unwrap(bus))
    try wait("the player \(name)", location: location) {
      self.players?.contains { $0.name == player.name } == true
    }
    return player
  }

  /// Waits until the monitor reports the calls to a player. Then forgets these calls.
  func waitForMonitor(
    _ player: StandInPlayer, _ client: BusClient, location: SourceLocation = #_sourceLocation
  ) throws {
    while calls.isEmpty {
      try client.ask(player.name, "org.freedesktop.DBus.Introspectable", "Introspect")
      #expect(try player.readLine()?.hasSuffix("Introspect") == true, sourceLocation: location)
    }
    // The monitor may report the last call later than the client receives the reply.
    try client.call(player.name, MediaPlayer.playerInterface, "Play")
    try wait("the monitor", location: location) { self.calls.last?.kind == .command }
    try client.wait("the reply")
    #expect(try player.readLine()?.hasSuffix("Play") == true, sourceLocation: location)
    calls = []
  }

  /// Handles events until a condition holds.
  func wait(
    _ expectation: String, location: SourceLocation = #_sourceLocation,
    until isSatisfied: () throws -> Bool
  ) throws {
    let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
    while try !isSatisfied() {
      guard BootClock.now() < end else {
        Issue.record(
          "\(expectation): \(String(describing: players)), \(calls), \(commands)",
          sourceLocation: location)
        throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
      }
      try loop.turn(within: .milliseconds(100))
    }
  }
}

/// A client of the bus that calls media players, on the loop of the test.
final class BusClient {
  private let loop: EventLoop
  private let bus: MessageBus
  /// The texts that the answers contain, or the names of the errors, in the order of the answers.
  private(set) var answers: [String] = []
  private(set) var callCount = 0
  /// The interface and the first changed property of each signal PropertiesChanged.
  private(set) var changes: [String] = []

  init(on bus: SessionBus, _ loop: EventLoop) throws {
    self.loop = loop
    self.bus = MessageBus(loop: loop, address: BusAddress(text: bus.address))
    self.bus.listen { [unowned self] in hear($0) }
    try self.bus.connect(waiting: false)
    while self.bus.state == .connecting { try loop.turn(within: deadline) }
  }

  private func hear(_ occurrence: MessageBus.Occurrence) {
    guard case .message(let message) = occurrence else { return }
    let reader = MessageReader(message)
    guard reader.isSignal("org.freedesktop.DBus.Properties", "PropertiesChanged"),
      let interface = reader.text()
    else { return }
    _ = reader.properties { name in
      changes.append("\(interface) \(name)")
      return false
    }
  }

  /// Calls a method of the player with the name `destination`.
  ///
  /// - Parameter read: returns the text of the reply.
  func call(
    _ destination: String, _ interface: String, _ member: String, _ texts: [String] = [],
    offset: Int64? = nil, _ read: @escaping (MessageReader) -> String? = { _ in "" }
  ) throws {
    callCount += 1
    try bus.call(
      BusMethod(
        destination: destination, path: MediaPlayer.path, interface: interface, member: member),
      timeout: nil,
      arguments: { body throws(SystemError) in
        for text in texts { try body.append(text) }
        if let offset { try body.append(offset) }
      },
      answer: { [unowned self] answer in
        switch answer {
        case .reply(let values): answers.append(read(values) ?? "unreadable")
        case .error(let error): answers.append(error.name)
        case .dropped: answers.append("dropped")
        }
      })
  }

  /// Calls a method, and returns the text of the reply or the name of the error.
  @discardableResult
  func ask(
    _ destination: String, _ interface: String, _ member: String, _ texts: [String] = [],
    offset: Int64? = nil, _ read: @escaping (MessageReader) -> String? = { _ in "" }
  ) throws -> String {
    try call(destination, interface, member, texts, offset: offset, read)
    try wait("\(member) of \(destination)")
    return answers.last ?? ""
  }

  /// Subscribes to the changes of the properties of all players.
  func subscribe() throws {
    callCount += 1
    try bus.call(
      .ofBus("AddMatch"), timeout: nil,
      arguments: { body throws(SystemError) in
        try body.append("type='signal',member='PropertiesChanged',path='\(MediaPlayer.path)'")
      },
      answer: { [unowned self] _ in answers.append("subscribed") })
    try wait("the subscription")
  }

  /// Returns whether a name has an owner.
  func hasOwner(_ name: String) throws -> Bool {
    callCount += 1
    try bus.call(
      .ofBus("GetNameOwner"), timeout: nil,
      arguments: { body throws(SystemError) in try body.append(name) },
      answer: { [unowned self] answer in
        if case .reply = answer { answers.append("owned") } else { answers.append("free") }
      })
    try wait("the owner of \(name)")
    return answers.last == "owned"
  }

  /// Waits until all calls have been answered.
  func wait(_ expectation: String) throws {
    let end = BootClock.now() + UInt64(deadline / .nanoseconds(1))
    while answers.count < callCount {
      guard BootClock.now() < end else {
        throw SystemError(call: "waiting: \(expectation)", errno: ETIMEDOUT)
      }
      try loop.turn(within: .milliseconds(100))
    }
  }
}

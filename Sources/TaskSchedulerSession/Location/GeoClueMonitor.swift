import EventLoop
import LinuxSystem
import TaskSchedulerWire

// Locations from GeoClue, a service on the system bus.
//
// The problem: while a client is active, GeoClue keeps a receiver on. After a minute without
// clients, GeoClue exits. If the user has no GeoClue agent, GeoClue sends no locations and no
// error: it waits for the agent. If only a receiver knows the location, GeoClue sends nothing to a
// client that requests a lower accuracy. The bus, GeoClue and its agent may appear and disappear at
// any time.
//
// The idea: the bus reports whether GeoClue runs, and whether the bus can start it. While a daemon
// needs locations, the monitor asks the bus to start GeoClue, and creates a client. An attempt
// without an answer counts as failed after a while, but continues, because GeoClue answers when its
// agent appears. After a failure, the monitor tries again, with a delay that increases each time.
// If a client receives no location, the monitor replaces it with a client that requests the highest
// accuracy.
//
// Why this is right: without an order, there is no client, and the monitor polls nothing. GeoClue
// counts as available until it fails, because only an attempt shows whether the user's GeoClue
// agent permits locations.

/// A monitor that reports whether GeoClue is available. While a daemon needs locations, the monitor
/// also reports the locations that GeoClue sends.
final class GeoClueMonitor {
  /// An event of the monitor.
  enum Occurrence {
    /// GeoClue has become available or unavailable. The monitor also reports this once after its
    /// start, when the bus has answered, or when no bus listens.
    case available(Bool)
    case location(SessionInterface.Location)
    /// The agent cannot report the location. The monitor repeats the report only after another
    /// problem or after ``solved``. For an invalid location, it repeats the report only after a
    /// valid location.
    case limited(GeoClueProblem)
    /// The agent can report the location again.
    case solved
  }

  /// The state of the attempt to receive locations.
  private enum Attempt {
    case none
    /// The bus is starting GeoClue.
    case activating
    case client(GeoClueClient)
    /// An attempt has failed. The next attempt begins when the timer expires.
    case waiting
  }

  /// The time within which GeoClue must start a client, in nanoseconds. After that time, the
  /// attempt counts as failed.
  static let answerTime: UInt64 = 25_000_000_000
  /// The shortest and the longest delay between a failure and the next attempt, in nanoseconds.
  /// The delay doubles with each failure. It returns to `delayMin` when the monitor ends a client
  /// that has started, and when a client has lasted for `lastingTime` before it fails.
  private static let delayMin: UInt64 = 1_000_000_000
  private static let delayMax: UInt64 = 300_000_000_000
  private static let lastingTime: UInt64 = 64_000_000_000
  /// How long a client that does not request the highest accuracy waits for its first location, in
  /// nanoseconds.
  static let coarseTime: UInt64 = 15_000_000_000
  /// How long the client remains when no daemon needs locations any more, in nanoseconds. A
  /// restarted daemon orders locations again at once, and can then use the same client.
  private static let lingerTime: UInt64 = 1_000_000_000
  private static let busName = "org.freedesktop.DBus"
  /// The maximum number of names that the agent reads from the bus.
  private static let namesMax = 65536

  private let loop: EventLoop
  private let answerTime: UInt64
  private let coarseTime: UInt64
  private let report: (Occurrence) -> Void
  private var connection: ReconnectingBus?
  /// The unique name of GeoClue; nil if it does not run.
  private var owner: String?
  private var isActivatable = false
  /// Whether the bus has reported the owner and the services that it can start.
  private var isListed = false
  /// The level of accuracy that is needed; nil if no locations are needed.
  private(set) var level: UInt32?
  /// Whether the agent requests the highest accuracy, because GeoClue has sent no location of the
  /// level that is needed.
  private var needsExact = false
  private var attempt = Attempt.none
  /// Whether GeoClue has failed to send locations, and has not recovered since.
  private var isFailing = false
  /// The reason for ``isFailing`` that was reported last.
  private var problem: GeoClueProblem?
  /// Whether the newest location was no place on the earth.
  private var isInvalid = false
  private var delay = GeoClueMonitor.delayMin
  private var startedAt: UInt64?
  /// The timer that limits an attempt and the wait for the first location, or that ends the delay
  /// after a failure.
  private var timer: TimerSource?
  private var lingerTimer: TimerSource?
  private var last: Bool?
  /// The newest location of the current client.
  private(set) var location: SessionInterface.Location?

  /// - Parameters:
  ///   - address: the address of the system bus, which need not listen yet.
  ///   - answerTime: the time within which GeoClue must start a client, in nanoseconds.
  ///   - coarseTime: the time within which GeoClue must send the first location to a client that
  ///     does not request the highest accuracy, in nanoseconds.
  ///   - report: called from the loop, and from within ``start()``.
  init(
    address: BusAddress, loop: EventLoop, answerTime: UInt64 = GeoClueMonitor.answerTime,
    coarseTime: UInt64 = GeoClueMonitor.coarseTime,
    report: @escaping (Occurrence) -> Void
  ) throws(SystemError) {
    self.loop = loop
    self.answerTime = answerTime
    self.coarseTime = coarseTime
    self.report = report
    connection = try ReconnectingBus(address: address, loop: loop) { [weak self] in
      self?.heard($0)
    }
    timer = try loop.timer { [weak self] in self?.timeIsUp() }
    lingerTimer = try loop.timer { [weak self] in self?.setLevel(nil) }
  }

  /// Connects to the bus as soon as it listens.
  func start() { connection?.start() }

  /// Reports locations of this accuracy from now on; with nil, reports none.
  func order(_ accuracy: SessionInterface.LocationAccuracy?) {
    if let accuracy {
      lingerTimer?.clear()
      setLevel(accuracy.geoClueLevel)
    } else if level != nil {
      lingerTimer?.set(BootClock.now() + Self.lingerTime)
    }
  }

  private func setLevel(_ level: UInt32?) {
    if level != self.level { needsExact = false }
    self.level = level
    proceed()
  }

  /// The level to request from GeoClue; nil if no locations are needed.
  private var requestedLevel: UInt32? { level.map { needsExact ? Self.exactLevel : $0 } }

  private static let exactLevel = SessionInterface.LocationAccuracy.best.geoClueLevel

  // MARK: The bus

  private func heard(_ occurrence: ReconnectingBus.Occurrence) {
    switch occurrence {
    case .connected:
      subscribe("NameOwnerChanged", "arg0='\(GeoClueClient.service)'")
      subscribe("ActivatableServicesChanged")
      readActivatable()
      readOwner { [weak self] in self?.listed($0) }
    case .disconnected:
      (owner, isActivatable, isListed, isFailing) = (nil, false, false, false)
      abandon()
      update()
    case .message(let message): heard(message)
    }
  }

  private func heard(_ message: MessageReader) {
    if message.sender == owner {
      if case .client(let client) = attempt { client.heard(message) }
    } else if message.sender == Self.busName {
      if message.isSignal(Self.busName, "ActivatableServicesChanged") {
        readActivatable()
      } else if message.isSignal(Self.busName, "NameOwnerChanged"), isListed,
        message.text() == GeoClueClient.service, message.text() != nil, let owner = message.text()
      {
        ownerChanged(to: owner.isEmpty ? nil : owner)
      }
    }
  }

  private func subscribe(_ member: String, _ condition: String...) {
    let rule = ["type='signal'", "sender='\(Self.busName)'", "member='\(member)'"]
    ask("AddMatch", (rule + condition).joined(separator: ",")) { _ in }
  }

  private func readActivatable() {
    ask("ListActivatableNames") { [weak self] answer in
      guard let self, case .reply(let values) = answer else { return }
      let names = values.texts(countMax: Self.namesMax) ?? []
      isActivatable = names.contains(GeoClueClient.service)
      guard isListed else { return }
      proceed()
      update()
    }
  }

  private func readOwner(_ use: @escaping (String?) -> Void) {
    ask("GetNameOwner", GeoClueClient.service) { answer in
      switch answer {
      case .reply(let values): use(values.text())
      case .error: use(nil)
      case .dropped: break
      }
    }
  }

  private func listed(_ owner: String?) {
    self.owner = owner
    isListed = true
    proceed()
    update()
  }

  private func ownerChanged(to name: String?) {
    if name == owner { return }
    owner = name
    switch attempt {
    case .none: break
    case .client: fail(nil)
    // If `name` is nil, GeoClue has ended. The reply of the bus or the timer then begins the next
    // attempt.
    case .activating, .waiting: if name != nil { endWaiting() }
    }
    proceed()
    update()
  }

  /// Calls a method of the bus.
  private func ask(
    _ member: String, _ argument: String? = nil, flags: UInt32? = nil,
    _ answer: @escaping (BusAnswer) -> Void
  ) {
    guard let bus = connection?.bus else { return }
    do throws(SystemError) {
      try bus.call(
        .ofBus(member), timeout: nil,
        arguments: { body throws(SystemError) in
          if let argument { try body.append(argument) }
          if let flags { try body.append(flags) }
        }, answer: answer)
    } catch {
      bus.lose("\(error)")
    }
  }

  // MARK: Attempts

  /// Begins or ends an attempt, if the level requires it.
  private func proceed() {
    guard isListed else { return }
    switch attempt {
    case .none: if level != nil { begin() }
    // The answers, or the end of the delay, lead to the next step.
    case .activating, .waiting: break
    case .client(let client):
      // Until GeoClue has created the client, the client can take any level.
      guard let own = client.level, own != requestedLevel else { return }
      client.end()
      if startedAt != nil { delay = Self.delayMin }
      abandon()
      if level != nil { begin() } else if isFailing { wait() }
    }
  }

  private func begin() {
    if let owner {
      guard let bus = connection?.bus else { return }
      do throws(SystemError) {
        let client = try GeoClueClient(
          of: owner, on: bus, loop: loop, levelNeeded: { [weak self] in self?.requestedLevel },
          report: { [weak self] in self?.heard($0) })
        attempt = .client(client)
        client.begin()
      } catch {
        return fail(.refused("\(error)"))
      }
    } else if isActivatable {
      attempt = .activating
      ask("StartServiceByName", GeoClueClient.service, flags: 0) { [weak self] in
        self?.activated($0)
      }
    } else {
      return
    }
    timer?.set(BootClock.now() + answerTime)
  }

  private func activated(_ answer: BusAnswer) {
    guard case .activating = attempt else { return }
    switch answer {
    case .reply:
      // The bus has reported no owner, so GeoClue may already have ended.
      readOwner { [weak self] owner in
        guard let self, case .activating = attempt else { return }
        if owner == nil { fail(.notStarted("GeoClue ended immediately")) }
        ownerChanged(to: owner)
        update()
      }
    case .error(let error):
      fail(.notStarted("\(error)"))
      update()
    case .dropped: break
    }
  }

  private func heard(_ occurrence: GeoClueClient.Occurrence) {
    guard case .client(let client) = attempt else { return }
    switch occurrence {
    case .started:
      timer?.clear()
      if client.level != Self.exactLevel { timer?.set(BootClock.now() + coarseTime) }
      startedAt = BootClock.now()
      succeed()
    case .switched(true): succeed()
    case .switched(false):
      isFailing = true
      location = nil
      limit(.switchedOff)
    case .location(let location):
      timer?.clear()
      self.location = location
      isInvalid = false
      report(.location(location))
    case .invalidLocation:
      if isInvalid { return }
      isInvalid = true
      report(.limited(.invalidLocation))
    case .unneeded:
      timer?.clear()
      attempt = .none
      isFailing = false
      // A daemon may need locations again.
      proceed()
    case .refused(let error): fail(.refused("\(error)"))
    }
    update()
  }

  private func succeed() {
    isFailing = false
    guard problem != nil else { return }
    problem = nil
    report(.solved)
  }

  /// Ends an attempt, and prepares the next one.
  ///
  /// - Parameter reason: the problem to report; nil if GeoClue has exited, which is not a problem.
  private func fail(_ reason: GeoClueProblem?) {
    if let startedAt, BootClock.now() >= startedAt + Self.lastingTime { delay = Self.delayMin }
    if let reason {
      isFailing = true
      limit(reason)
    }
    if case .client(let client) = attempt { client.end() }
    abandon()
    wait()
  }

  private func wait() {
    attempt = .waiting
    timer?.set(BootClock.now() + delay)
    delay = min(delay * 2, Self.delayMax)
  }

  /// Permits the next attempt.
  private func endWaiting() {
    timer?.clear()
    attempt = .none
    // Without an attempt, nothing else would reset `isFailing`, and GeoClue would stay unavailable.
    if level == nil { isFailing = false }
  }

  /// Forgets the attempt.
  private func abandon() {
    timer?.clear()
    attempt = .none
    location = nil
    startedAt = nil
  }

  private func timeIsUp() {
    switch attempt {
    case .none: return
    case .waiting:
      endWaiting()
      proceed()
    case .client(let client) where client.isStarted:
      needsExact = true
      proceed()
    case .activating, .client:
      isFailing = true
      limit(.noAnswer)
    }
    update()
  }

  // MARK: Reports

  private func limit(_ problem: GeoClueProblem) {
    if problem == self.problem { return }
    self.problem = problem
    report(.limited(problem))
  }

  private func update() {
    let isAvailable = isListed && !isFailing && (owner != nil || isActivatable)
    if isAvailable == last { return }
    last = isAvailable
    report(.available(isAvailable))
  }
}

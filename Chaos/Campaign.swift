import Glibc
import LinuxSystem
import TaskSchedulerWire

/// Runs clients and an operator inside a machine, and repeatedly kills the daemon.
final class Campaign {
  struct Options {
    var kills: Int
    var clients: Int
    var seed: UInt64
    /// Whether to install the next version's daemon after half of the kills.
    var upgrades = false
  }

  private let options: Options
  let recordFile = RecordFile(path: Settings.recordFile)
  private let events = Events(path: Settings.events)
  private let proc: ProcFS
  let clients: [Client]
  private var chance: SeededGenerator
  private(set) var verifier: Verifier
  private var operating: OperatorProcess?
  /// Connections on which the campaign sends nothing. A kill must not close any of them.
  private var idle: [RawConnection] = []
  private(set) var findings = Findings()
  private(set) var stolenTime = StolenTime()
  /// The number of late events for which stolen CPU time may be the cause.
  private(set) var excused = 0
  private var outages = Outages()
  private var eventsRead = 0
  // Counters for the summary.
  private(set) var kills = 0
  private(set) var killsAtStart = 0
  private(set) var restarts: [UInt64] = []
  /// The durations of the restarts by `systemctl restart`, from the end of one daemon until the
  /// next daemon serves a call.
  private(set) var orderlyRestarts: [UInt64] = []
  private(set) var ends = 0
  private(set) var lost = 0
  /// The number of connections that were closed since the last check. Young connections, and those
  /// whose client may have been suspended, do not count. Each kill, even one during recovery, may
  /// close one connection. If the kill interrupts an answer, the next daemon cannot know whether
  /// the client has received the answer, and therefore closes the connection.
  private var lostSinceLook = 0
  private var killsAtLook = 0
  private(set) var expirations = 0
  private(set) var tooSlow = 0

  init(_ options: Options) throws {
    self.options = options
    proc = try ProcFS()
    clients = (0..<options.clients).map(Client.init)
    chance = SeededGenerator(seed: options.seed, for: -2)
    verifier = Verifier(
      recordFile: recordFile, proc: proc, clients: clients, report: { _, _ in },
      reportLate: { _, _ in },
      tooSlow: {})
    verifier.report = { [unowned self] text, client in found(text, client) }
    verifier.reportLate = { [unowned self] text, client in foundLate(text, client) }
    verifier.tooSlow = { [unowned self] in tooSlow += 1 }
  }

  /// Runs the campaign in its phases, and prints the summary. Returns whether all checks passed.
  func run() throws -> Bool {
    recordFile.phase = .work
    say("starting \(options.clients) clients, seed \(options.seed)")
    try startClients()
    idle = openIdle(20)
    operating = try OperatorProcess(["operator", "\(options.clients)", "\(options.seed)"])
    try check()
    say("killing the daemon \(options.kills) times")
    var upgradeIsDue = options.upgrades
    while kills < options.kills || upgradeIsDue {
      if upgradeIsDue, kills >= options.kills / 2 {
        upgradeIsDue = false
        try upgrade()
      } else {
        killOnce()
        if chance.percent(5) { try restart() }
      }
      try check()
      if restarts.count % 100 == 0 { say("\(kills) kills, \(findings.count) findings") }
    }
    if options.kills == 0 { try checkWithoutKills() }
    try waitUntilSettled()
    try stop()
    summarize()
    return findings.isEmpty
  }

  /// Checks the clients in a campaign that is run with zero kills. A finding then shows an error of
  /// the campaign, or a defect that has nothing to do with kills.
  private func checkWithoutKills() throws {
    for _ in 0..<30 {
      _ = poll(nil, 0, Int32(chance.below(300)))
      try check()
    }
  }

  func found(_ text: String, _ client: Int?, at time: UInt64 = BootClock.now()) {
    findings.add(text, client, at: time, afterKill: kills)
  }

  /// Reports that an event was late, unless stolen CPU time may be the cause.
  private func foundLate(_ text: String, _ client: Int?) {
    stolenTime.sample()
    if stolenTime.explainsDelay(BootClock.now()) { excused += 1 } else { found(text, client) }
  }

  func say(_ text: String) {
    print(text)
    fflush(nil)
  }

  // MARK: Clients

  /// The number of clients that start together. It is small, because a client that gets too little
  /// CPU time cannot acknowledge its first callback in time.
  private static let startsAtOnce = 25

  private func startClients() throws {
    for client in clients {
      try start(client)
      if client.number % Self.startsAtOnce == 0 { try waitUntilStarted() }
    }
    try waitUntilStarted()
  }

  /// Waits until all started clients have received a callback. Restarts a client that has ended in
  /// the meantime.
  private func waitUntilStarted() throws {
    let end = BootClock.now() + 180_000_000_000
    var nextLook = BootClock.now() + 1_000_000_000
    for client in clients where client.startedAt > 0 {
      while recordFile.read(slot: client.number + 1).map({ $0[.callbacks] == 0 }) ?? true {
        let now = BootClock.now()
        guard now < end else {
          throw Failure(sentence: "client \(client.number) did not start within 3 minutes")
        }
        if now >= nextLook {
          try restartEnded(verifier.list())
          nextLook = now + 1_000_000_000
        }
        _ = poll(nil, 0, 20)
      }
    }
  }

  private func start(_ client: Client) throws {
    client.startedAt = BootClock.now()
    client.endedAt = nil
    client.careless = nil
    client.warned = nil
    client.relievedAt = nil
    client.terminateAt = 0
    if client.kind.isLaunched {
      do {
        _ = try Daemon.call(
          ControlInterface.Launch.self, .init(application: Settings.application(client.number)))
      } catch ControlInterface.Failure.alreadyRunning {
        // The operator has launched the application in the meantime.
      }
    } else {
      var request = SpawnRequest(
        path: "/usr/bin/chaos",
        arguments: ["chaos", "client", "\(client.number)", "\(options.seed)"],
        environment: ["PATH=/usr/bin:/bin"])
      let user = Settings.user(of: client.number)
      request.identity = .init(uid: user, gid: user, groups: [])
      request.newSession = true
      client.process = try HeldChild.spawn(request).releaseAndWaitForExec()
    }
  }

  /// Restarts the clients that have ended and whose end the daemon has reported. If the daemon does
  /// not report an end within two seconds, this is a finding.
  private func restartEnded(_ listed: [Int: ControlInterface.Application]) throws {
    for client in clients where client.startedAt > 0 {
      let hasEnded: Bool
      if client.kind.isLaunched {
        hasEnded = listed[client.number]?.state == .notRunning
      } else {
        hasEnded = try client.process?.hasEnded() ?? true
      }
      guard hasEnded else { continue }
      let now = BootClock.now()
      let endedAt = client.endedAt ?? now
      if client.endedAt == nil {
        client.endedAt = now
        ends += 1
      }
      let isExplained = UInt64(client.lastEndUSec) * 1000 >= client.startedAt
      if !isExplained, now < endedAt + 2_000_000_000 { continue }
      if !isExplained {
        found("a process has ended, and the daemon reports no reason", client.number)
      }
      if !client.kind.isLaunched { _ = try client.process?.wait() }
      try start(client)
    }
  }

  // MARK: Killing

  private func killOnce() {
    // Between two kills, the daemon must have time to read the calls of all clients. Otherwise the
    // campaign would measure the speed of the machine.
    _ = poll(nil, 0, Int32(chance.below(60 * max(1, options.clients / 200))))
    // The daemon kills a client that does not acknowledge a callback in time. A restart of the
    // daemon gives the client the full time again. Some daemons therefore run for longer than this
    // time, so that they kill a client whose callback was lost.
    if chance.percent(5) { _ = poll(nil, 0, Int32(Settings.callbackTimeout / 1_000_000 * 5 / 4)) }
    let start = kill() ?? BootClock.now()
    var last = start
    // Some kills hit the new daemon while it starts or recovers.
    while kills < options.kills, chance.percent(25), let again = killStarting() {
      last = again
      killsAtStart += 1
    }
    let served = Daemon.waitUntilServed()
    outages.add(from: start, until: served)
    restarts.append(served - last)
  }

  /// Waits for the next process of the daemon, and kills it shortly after its start. Returns the
  /// time of the kill.
  private func killStarting() -> UInt64? {
    for _ in 0..<2000 {
      if Daemon.process(in: proc) != nil {
        // The delay is a random number of microseconds, because a start takes only some tens of
        // milliseconds.
        usleep(UInt32(chance.below(60_000)))
        return kill()
      }
      _ = poll(nil, 0, 1)
    }
    return nil
  }

  /// Kills the daemon's process, if there is one. Returns the time of the kill.
  private func kill() -> UInt64? {
    guard let process = Daemon.process(in: proc) else { return nil }
    let now = BootClock.now()
    guard (try? process.send(signal: SIGKILL)) == .delivered else { return nil }
    _ = try? process.waitForEnd(timeout: .seconds(5))
    kills += 1
    return now
  }

  /// Runs `systemctl restart` at a random moment, while the clients continue to work.
  private func restart() throws {
    _ = poll(nil, 0, Int32(chance.below(60)))
    guard let daemon = Daemon.process(in: proc) else { return }
    let start = BootClock.now()
    let systemctl = try Daemon.systemctl("restart", "taskschedd.service")
    guard try daemon.waitForEnd(timeout: .seconds(30)) else {
      return found("the daemon does not exit for its restart", nil)
    }
    let end = BootClock.now()
    let served = Daemon.waitUntilServed()
    guard try systemctl.wait() == .ended(.exited(code: 0)) else {
      return found("systemctl restart failed", nil)
    }
    outages.add(from: start, until: served)
    orderlyRestarts.append(served - end)
  }

  private func upgrade() throws {
    try Daemon.install()
    try restart()
    guard Daemon.isInstalled(in: proc) else {
      throw Failure(sentence: "the daemon that runs after the upgrade is not the one installed")
    }
    say("upgraded after \(kills) kills")
  }

  // MARK: Checks

  private func check() throws {
    try check(touched: try operating?.pause() ?? [])
    try operating?.resume()
  }

  /// Compares the daemon's answers with all records once, while the operator is paused.
  ///
  /// - Parameter touched: The clients that the operator has operated since the last check.
  func check(touched: Set<Int>) throws {
    stolenTime.sample()
    readEvents()
    try verifier.check(touched: touched, outages: outages)
    try restartEnded(verifier.list())
    readEvents()
    checkIdle()
    if lostSinceLook > kills - killsAtLook {
      found("\(lostSinceLook) connections were closed by \(kills - killsAtLook) kills", nil)
    }
    lostSinceLook = 0
    killsAtLook = kills
  }

  /// Ends the operator's process. Returns the clients that it has operated since the last check.
  func endOperating() throws -> Set<Int> {
    defer { operating = nil }
    let touched = try operating?.pause() ?? []
    try operating?.end()
    return touched
  }

  private func readEvents() {
    for line in events.read(from: &eventsRead) {
      let client = line.client < clients.count ? clients[line.client] : nil
      switch line.kind {
      case .violation: found(line.text, line.client, at: line.time)
      case .terminate: client?.terminateAt = line.time
      case .lost:
        lost += 1
        if line.text.isEmpty { lostSinceLook += 1 }
      case .expired:
        expirations += 1
        guard let due = UInt64(line.text) else { continue }
        let latest = outages.latestExpiration(due: due)
        let late = outages.lateness(of: line.time, due: latest)
        if late > Settings.slack {
          foundLate("a task expired \(late / 1_000_000) ms late", line.client)
        }
      case .careless:
        client?.careless = Client.Limit(line.text)
      case .warned:
        client?.warned = Client.Limit(line.text)
        client?.relievedAt = nil
      case .relieved:
        client?.relievedAt = line.time
      }
    }
  }

  private func checkIdle() {
    let open = idle.filter { connection in
      if case .closed = connection.receive(within: 0) { return false }
      return true
    }
    lost += idle.count - open.count
    if open.count < idle.count {
      found("idle connections were closed: \(idle.count - open.count)", nil)
      idle = open + openIdle(idle.count - open.count)
    }
  }

  /// Opens idle connections, and waits until they are so old that the daemon has saved them.
  private func openIdle(_ count: Int) -> [RawConnection] {
    let connections = (0..<count).compactMap { _ in RawConnection() }
    _ = Daemon.waitUntilServed()
    _ = poll(nil, 0, 200)
    return connections
  }
}

/// The reason why a campaign cannot continue, as a sentence.
struct Failure: Error, CustomStringConvertible {
  let sentence: String
  var description: String { sentence }
}

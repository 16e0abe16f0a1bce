import CSystemd
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The hands of the policy: hears what happens, asks the policy, and does what it says.
public final class Daemon {
  /// As `--version` prints it.
  public static let version = Version.current

  private(set) var scheduler: Scheduler
  private(set) var configuration: Configuration
  let paths: ConfigurationPaths
  private let log: Log
  private let loop: EventLoop
  private let proc: ProcFS
  private let ownPriority: OwnPriority?
  private(set) var server: Server?
  private var runner: EffectRunner?
  private var processes: ProcessController?
  private let eventLog: EventLog
  /// When it began to read the event log.
  private let startedAt: Instant
  private let store = DescriptorStore()
  private var requests: Requests?
  private var sockets: ManagedSockets?
  private var memory: MemoryService?
  private var notifications: LocalNotifications?
  private var systemChanges: SystemChangeProviders?
  private var alarm: WakeAlarm?
  /// Set when an event log is gone on from.
  private var survival: TimerSource?
  private var timer: TimerSource?
  private var armed: Instant?
  private var signals: [Source] = []
  private(set) var operatorGroup = OperatorGroup(named: "")
  /// Events that came while another was being handled.
  private var backlog: [Event] = []
  private var isHandling = false
  private var ending = Ending.stopped
  /// The socket file to be removed at the end, where we made it.
  private var ownSocketPath: String?

  /// - Throws: ``StartFailure`` with all mistakes of the configuration, or what the system refused.
  public init(_ arguments: Arguments) throws {
    paths = arguments.paths
    let ahead = ConfigurationAhead(from: paths)
    log = Log(target: arguments.logTarget, level: ahead.logLevel)
    if ahead.isWrong { _ = try ahead.whole(log) }
    loop = try EventLoop()
    proc = try ProcFS()
    ownPriority = try OwnPriority(in: proc, loop: loop)
    let now = Instant(nanoseconds: BootClock.now())
    startedAt = now
    let boot = BootID(try BootIdentity.text())
    var folder: EventLogDirectory?
    if let path = arguments.eventLogPath { folder = try EventLogDirectory(path: path, proc: proc) }
    var replay: Replay?
    var unclear: LeftBehind?
    var found: FoundEventLog?
    if let folder {
      let finder = EventLogFinder(
        folder: folder, boot: boot, socketPath: arguments.socketPath, proc: proc, log: log)
      found = try finder.find(at: now)
    }
    // Before anything is begun.
    configuration = try ahead.whole(log)
    if let folder, let found = consume found {
      replay = found.replay
      unclear = found.unclear
      scheduler = found.replay.scheduler
      eventLog = EventLog(continuing: found, in: folder, boot: boot, log: log)
      eventLog.setAttempts((replay?.progress.attempts ?? 0) + 1)
    } else {
      scheduler = Scheduler(policy: configuration.policy)
      eventLog = try EventLog(folder, boot: boot, scheduler: scheduler, at: now, log: log)
    }
    try setUp(arguments, replay, unclear)
  }

  /// How it has stopped.
  public enum Ending {
    /// Everything that was suspended runs.
    case stopped
    /// systemd starts another at once, for which all is left as it stands.
    case restarting
  }

  /// Serves until SIGTERM or SIGINT.
  public func run() throws -> Ending {
    try loop.run()
    if let path = ownSocketPath { try? UnixSocket.unlink(path: path) }
    let what =
      switch ending {
      case .stopped: "every suspended application was resumed"
      case .restarting: "suspended applications stay suspended, because systemd restarts taskschedd"
      }
    log.write(.notice, "stopped; \(what)", id: .stopped)
    return ending
  }

  private func setUp(
    _ arguments: Arguments, _ replay: Replay?, _ unclear: LeftBehind?
  ) throws {
    let openFiles = try ResourceLimits.raiseOpenFiles()
    try blockSignals()
    let post: (Event) -> Void = { [unowned self] event in self.post(event) }
    let processes = try ProcessController(
      proc: proc, loop: loop, options: configuration.options, eventLog: eventLog, store: store,
      report: post)
    let requests = Requests(eventLog: eventLog, numberLast: replay?.requestLast ?? 0)
    let streams = EventStreams(eventLog: eventLog) { [unowned processes] in processes[$0] }
    let monitors = Monitors(eventLog: eventLog)
    let sockets = ManagedSockets(loop: loop) { id, ready in
      post(.socket(.ready(id, ready.map { SocketReadiness(SocketID($0), .init($1)) })))
    }
    let notifications = try localNotifications(arguments, post)
    let launcher = try Launcher(
      proc: proc, loop: loop, socketPath: arguments.socketPath, scope: paths.scope,
      mechanism: configuration.options.launchMechanism, openFilesSoft: openFiles.forChildren)
    processes.unitEnds = launcher.ends
    let memory = memoryService(arguments, processes, launcher)
    processes.state = { [unowned self] in scheduler.state(of: $0) }
    let runner = EffectRunner(
      processes: processes, launcher: launcher, requests: requests, streams: streams,
      monitors: monitors, sockets: sockets, notifications: notifications,
      memory: memory, store: store, log: log, eventLog: eventLog, post: post)
    let inherited = try DescriptorStore.Inherited()
    let server = try Server(
      listener: try listener(inherited.listeners, arguments.socketPath),
      options: configuration.options, loop: loop, proc: proc, log: log, eventLog: eventLog,
      store: store)
    server.applications = ApplicationService(
      membership: processes.membership, requests: requests, runner: runner, sockets: sockets,
      notifications: notifications, daemon: self, post: post)
    let control = ControlService(
      membership: processes.membership, requests: requests, runner: runner, monitors: monitors,
      notifications: notifications, memory: memory, daemon: self, post: post)
    control.unit = { [unowned processes] in processes.currentUnit(of: $0)?.ownName }
    control.lowered = { [unowned processes] in
      processes[$0].map { $0.lowered.words($0.priority) } ?? []
    }
    server.control = control
    server.onClosed = { [unowned self] connection in
      monitors.remove(connection)
      requests.forget(connection)
      if let id = streams.closed(connection) { self.post(.streamClosed(id)) }
    }
    self.processes = processes
    self.runner = runner
    self.server = server
    self.requests = requests
    self.sockets = sockets
    self.memory = memory
    self.notifications = notifications
    eventLog.state = { [unowned self] in state() }
    runner.manifests = configuration.manifests
    runner.serviceStatus = try ServiceStatus(loop: loop) { [unowned self] in
      ServiceStatus.text(scheduler.runningCounts)
    }
    try setUpTime(runner, processes, server)
    // A new life, in which whoever is to be reachable is launched.
    var isNew = true
    if let replay {
      let takeover = Takeover(
        processes: processes, server: server, requests: requests, streams: streams,
        monitors: monitors, sockets: sockets, store: store, runner: runner, eventLog: eventLog,
        unclear: unclear, socketPath: arguments.socketPath, log: log)
      isNew = recover(replay, inherited, takeover)
    } else {
      let outcome = inherited.letGo(store, in: proc)
      for failure in outcome.failures { log.write(.error, "cannot resume \(failure)") }
      let marks = ProcessMarks(socket: arguments.socketPath)
      runner.restoreRunningOn(LaunchedBefore(marks: marks, proc: proc).leaders())
    }
    try releaseLeftovers(launcher)
    // Or it died before it had come so far.
    begin(isNew: isNew || !scheduler.isStarted)
    try server.start()
    for number in inherited.slowToClose {
      FileDescriptor(taking: number, closesElsewhere: true).close()
    }
    log.write(
      .notice, "ready at \(arguments.socketPath), \(configuration.manifests.count) manifests",
      id: .started)
    notify("READY=1")
    runner.serviceStatus?.tell()
    saveSlowToClose()
    if isNew { log.warnIfNotEnabled(configuration, loop, paths.scope) }
  }

  private func saveSlowToClose() {
    store.save(slowToClose: (systemChanges?.slowToClose ?? []) + (memory?.slowToClose ?? []))
  }

  /// What happens when it is time to.
  private func setUpTime(
    _ runner: EffectRunner, _ processes: ProcessController, _ server: Server
  ) throws(SystemError) {
    timer = try loop.timer { [unowned self] in
      armed = nil
      post(.deadlineReached)
    }
    timer?.goFirst()
    runner.hearing = try Hearing(
      loop: loop, ears: server.ears { [unowned processes] in processes[$0]?.uid },
      isTraced: { [unowned processes] in processes.checkTracer($0, answer: $1) },
      report: { [unowned self] in post($0) })
    survival = try loop.timer { [unowned self] in
      eventLog.setAttempts(0)
      eventLog.isTakingOver = false
    }
    alarm = WakeAlarm(loop: loop, log: log) { [unowned self] in post(.deadlineReached) }
    try loop.enableWatchdog()
  }

  private func localNotifications(
    _ arguments: Arguments, _ post: @escaping (Event) -> Void
  ) throws -> LocalNotifications {
    let notifications = try LocalNotifications(
      path: arguments.statePath.map { $0 + "/notifications.db" }, desktops: arguments.desktops,
      loop: loop, log: log, post: post)
    notifications.displayName = { [unowned self] in configuration.manifests[$0.id]?.displayName }
    return notifications
  }

  private func memoryService(
    _ arguments: Arguments, _ processes: ProcessController, _ launcher: Launcher
  ) -> MemoryService {
    var places = MemoryService.Places(
      memInfo: arguments.memInfo, pressure: arguments.memoryPressure)
    places.slicePressure = launcher.groups.map { "\($0.parent.path)/memory.pressure" }
    return MemoryService(places: places, processes: processes, loop: loop, log: log) {
      [unowned self] in post($0)
    }
  }

  /// Hears of the world, and tells the policy how it is.
  private func begin(isNew: Bool) {
    post(.clockRead(WallTime(nanoseconds: WallClock.nanoseconds)))
    if isNew { notifications?.load() }
    notifications?.showRest()
    apply(configuration)
    systemChanges = SystemChangeProviders(
      loop: loop, log: log,
      report: { [unowned self] in post(.systemChanged(nil, $0, for: nil)) },
      clockSet: { [unowned self] _ in
        post(.clockRead(WallTime(nanoseconds: WallClock.nanoseconds)))
      })
    if isNew { post(.started) }
  }

  // MARK: Recovery

  /// Whoever has lived for so long does not die of what the event log told.
  private static let survivalTime: Duration = .milliseconds(100)

  /// What is held and known, for the next daemon.
  private func state() -> (Holdings, Scheduler, requestLast: UInt64) {
    var holdings = Holdings()
    holdings.instances = processes?.held ?? [:]
    holdings.arrivals = runner?.arrivals.mapValues(\.held) ?? [:]
    holdings.runningOn = runner?.runningOn ?? [:]
    for connection in (server?.connections ?? [:]).values {
      var held = connection.held
      if let waiting = requests?.held(connection) {
        held = held ?? Holdings.Connection()
        held?.waiting = waiting
      }
      holdings.connections[connection.cookie] = held
    }
    return (holdings, scheduler, requests?.numberLast ?? 0)
  }

  /// Goes on from what an earlier daemon knew.
  ///
  /// - Returns: whether it had let everything go, so that this is a new life.
  private func recover(
    _ replay: Replay, _ inherited: DescriptorStore.Inherited, _ takeover: Takeover
  ) -> Bool {
    survival?.set(BootClock.after(Self.survivalTime))
    let outcome = takeover.run(replay, inherited)
    isHandling = true
    carryOut(outcome.effects, at: now)
    if let request = replay.lastEvent?.request { requests?.noteIfWaiting(request) }
    isHandling = false
    notifications?.reportLost(of: scheduler.waitingNotifications)
    // It stopped in good order, and nothing came of a restart: everything ran on unmanaged.
    if replay.progress.isClean, inherited.isEmpty {
      post(.stop)
      return true
    }
    // Before whatever else has come: if we die now, the next must know of the whole absence.
    backlog.insert(.recovered(lastAlive: replay.lastAlive), at: 0)
    for id in outcome.lost { post(.leaderExited(id, .unknown)) }
    for id in scheduler.running where !takeover.streams.isOpen(id) { post(.streamClosed(id)) }
    for (id, lost) in outcome.lostSockets { post(.socket(.lost(id, lost))) }
    drain()
    if scheduler.running.isEmpty, outcome.connections + outcome.closed == 0 { return false }
    let away = TimeSpan.format(replay.lastAlive.duration(to: now).roundedToMilliseconds)
    let time = TimeSpan.format(startedAt.duration(to: now).roundedToMilliseconds)
    var message = "took over \(scheduler.running.count) applications and \(outcome.connections) "
      + "connections within \(time); the last event was \(away) ago"
    if outcome.closed > 0 {
      message += "; closed \(outcome.closed) connections that may have missed messages"
    }
    log.write(.notice, message, id: .recovered)
    return false
  }

  /// Releases what an earlier daemon left behind. A failure does not keep the daemon from serving.
  private func releaseLeftovers(_ launcher: Launcher) throws(SystemError) {
    let held = Set((processes?.held ?? [:]).values.compactMap(\.arrival.group))
    guard
      let (inUse, failures) = try launcher.groups?.releaseLeftovers(
        in: proc, held: held.union(launcher.starting), relaunched: Set(scheduler.launching))
    else { return }
    if !inUse.isEmpty {
      let names = inUse.joined(separator: ", ")
      log.write(.notice, "processes of an earlier daemon run unmanaged: \(names)")
    }
    for failure in failures {
      log.write(.warning, "cannot release what an earlier daemon left behind: \(failure)")
    }
  }

  // MARK: Events

  /// Hands an event to the policy and carries out what it says; what happens meanwhile comes after.
  func post(_ event: Event) {
    backlog.append(event)
    drain()
  }

  private func drain() {
    guard !isHandling, runner != nil else { return }
    isHandling = true
    var next = 0
    while next < backlog.count {
      let event = backlog[next]
      let now = self.now
      eventLog.record(event, at: now)
      if event.request != nil { eventLog.call?.takeMessage() }
      if case .stop = event { runner?.keepRunningOn(processes?.held ?? [:]) }
      carryOut(scheduler.handle(event, at: now), at: now)
      if let request = event.request { requests?.noteIfWaiting(request) }
      next += 1
    }
    backlog.removeAll(keepingCapacity: true)
    runner?.forgetArrivals()
    isHandling = false
    armTimer()
  }

  private func carryOut(_ effects: [Effect], at now: Instant) {
    eventLog.willCarryOut(effects)
    for effect in effects {
      runner?.run(effect, at: now)
      eventLog.effectDone()
    }
  }

  private func armTimer() {
    // Another limit may come before it, and be there already.
    alarm?.set(scheduler.nextWakeUp)
    let next = scheduler.nextDeadline
    guard next != armed else { return }
    armed = next
    if let next { timer?.set(next.nanoseconds) } else { timer?.clear() }
  }

  // MARK: Signals

  private func blockSignals() throws(SystemError) {
    // systemd's watchdog ends us by SIGABRT. Where Swift's runtime prints a backtrace for it, it
    // returns to what was interrupted, and we would live on.
    signal(SIGABRT, SIG_DFL)
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
    // Standard error may be a pipe that nobody reads any more.
    signal(SIGPIPE, SIG_IGN)
    sigprocmask(SIG_BLOCK, &set, nil)
    for signal in [SIGTERM, SIGINT] {
      signals.append(try loop.watch(signal: signal) { [unowned self] in stop() })
    }
    signals.append(try loop.watch(signal: SIGHUP) { [unowned self] in _ = reload() })
  }

  /// Everything runs on, unless another daemon is to come at once: no client sees that. Where it is
  /// not known, one may come still: systemd has kept the connections for it then.
  private func stop() {
    notify("STOPPING=1")
    if store.isThere {
      if isRestarting() { ending = .restarting } else { processes?.letAllRun() }
      processes?.finish()
      eventLog.condense(at: now)
    } else {
      post(.stop)
      processes?.finish()
      processes?.priorities.finish()
    }
    eventLog.setClean(ending == .stopped)
    server?.stop(keepingConnections: store.isThere)
    notifications?.stop()
    loop.exit()
  }

  private func isRestarting() -> Bool {
    do throws(SystemError) {
      return try SystemdManager(loop: loop, scope: paths.scope)?.isRestarting() ?? false
    } catch {
      log.write(
        .warning, "cannot tell whether systemd is restarting the daemon; resuming all "
          + "applications: \(error)")
      return false
    }
  }

  // MARK: Configuration

  /// Puts a configuration that has no mistakes in force.
  private func apply(_ configuration: Configuration) {
    self.configuration = configuration
    log.level = configuration.options.logLevel
    processes?.options = configuration.options
    server?.options = configuration.options
    runner?.manifests = configuration.manifests
    memory?.apply(configuration.policy)
    operatorGroup = OperatorGroup(named: configuration.options.operatorGroup)
    server?.reconsiderOperators()
    for warning in warnings { log.write(.warning, warning) }
    let daemonUser = UserID(Users.effectiveUID)
    let manifests = configuration.manifests.values.map {
      $0.manifest(daemonUser: daemonUser, isUserDaemon: isUserDaemon)
    }
    let sorted = manifests.sorted { $0.id < $1.id }
    // A daemon that starts again has mostly read the same.
    if sorted != scheduler.manifests { post(.manifestsChanged(sorted)) }
    if configuration.policy != scheduler.policy { post(.policyChanged(configuration.policy)) }
  }

  // MARK: The socket

  /// The socket that systemd hands over, or one of our own.
  private func listener(_ inherited: [Int32], _ path: String) throws -> FileDescriptor {
    guard inherited.count <= 1 else { throw StartFailure.tooManySockets(inherited.count) }
    if let number = inherited.first {
      guard sd_is_socket(number, AF_UNIX, Int32(SOCK_STREAM.rawValue), 1) > 0 else {
        throw StartFailure.wrongSocket
      }
      return FileDescriptor(taking: Int32(number))
    }
    do throws(SystemError) {
      let socket = try UnixSocket.listen(path: path, mode: 0o666)
      ownSocketPath = path
      return socket
    } catch {
      guard error.errno == EADDRINUSE else { throw error }
      throw StartFailure.occupied(path: path, FileFacts(path: path))
    }
  }

  private func notify(_ state: String) { sd_notify(0, state) }
}

extension Daemon: ControlledDaemon {
  var now: Instant { Instant(nanoseconds: BootClock.now()) }
  var isUserDaemon: Bool { paths.scope == .user }
  var listener: Int32 { server?.listenerNumber ?? -1 }
  /// Each asking is another try to write down where things stand.
  var isForgetful: Bool { !eventLog.isWhole(at: now) }

  func hasConnection(_ cookie: UInt64) -> Bool {
    server?.connections.values.contains { $0.cookie == cookie } ?? false
  }

  func reload() -> [ConfigurationProblem] {
    // Of CLOCK_MONOTONIC, as systemd's protocol asks.
    notify("RELOADING=1\nMONOTONIC_USEC=\(MonotonicClock.microseconds)")
    let (fresh, problems) = Configuration.load(from: paths)
    if problems.isEmpty {
      apply(fresh)
      saveSlowToClose()
      log.write(
        .notice, "configuration read, \(fresh.manifests.count) manifests",
        id: .configurationLoaded)
    } else {
      for problem in problems {
        log.write(.error, problem.description, id: .configurationRefused)
      }
      log.write(.error, "the configuration is invalid; the previous one stays in force")
    }
    notify("READY=1")
    if problems.isEmpty { log.warnIfNotEnabled(configuration, loop, paths.scope) }
    return problems
  }
}

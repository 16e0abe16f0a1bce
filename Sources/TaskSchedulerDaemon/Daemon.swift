import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The daemon: creates its parts, connects them, and serves until a signal ends it.
public final class Daemon {
  /// The version that `--version` prints.
  public static let version = Version.current

  private let log: Log
  private let loop: EventLoop
  private let daemonPriority: DaemonPriority?
  private let eventLog: EventLog
  private let pump: Pump
  private let settings: CurrentSettings
  private let subsystems: Subsystems
  private let server: Server
  private let runner: EffectRunner
  private let systemChanges: SystemChangeProviders
  private let modemCalls: ModemCalls
  private let incomingCalls: IncomingCalls
  /// A timer that expires after ``survivalTime``. The daemon then resets the number of takeover
  /// attempts to 0, because the previous daemon's event log has not made this daemon fail.
  private let survival: TimerSource
  private var signals: [Source] = []
  private var ending = Ending.stopped
  /// The socket file to remove at the end; nil if systemd created the socket.
  private let ownSocketPath: String?

  /// Reads the configuration and the event log, takes over from a previous daemon, and begins to
  /// serve.
  ///
  /// - Throws: ``StartFailure``; an error if the daemon must not use the event log's directory;
  ///   and the errors of the operating system.
  public init(_ arguments: Arguments) throws {
    let startup = try StartupState(arguments)
    (log, loop, eventLog) = (startup.log, startup.loop, startup.eventLog)
    daemonPriority = startup.daemonPriority
    Self.blockSignals()
    pump = Pump(scheduler: startup.scheduler, store: eventLog, clock: Instant.sinceBoot)
    settings = CurrentSettings(
      startup.configuration, paths: arguments.paths, pump: pump, loop: loop, log: log)
    let inherited = try DescriptorStore.Inherited()
    var locations = SystemChangeProviders.Locations()
    if let address = arguments.systemBus { locations.systemBus = BusAddress(text: address) }
    locations.networkSockets = inherited.network
    subsystems = try Self.subsystems(
      arguments, startup, settings, pump, inherited.network, systemBus: locations.systemBus)
    ownSocketPath = inherited.listeners.isEmpty ? arguments.socketPath : nil
    let listener = try Self.listener(inherited.listeners, arguments.socketPath)
    server = try Self.server(
      startup, subsystems, listener: listener, socketPath: arguments.socketPath, settings, pump)
    runner = try Self.runner(startup, subsystems, server, pump)
    systemChanges = SystemChangeProviders(
      loop: loop, log: log, locations: locations,
      report: { [unowned pump] in pump.post(.systemChanged(nil, $0, for: nil)) },
      clockSet: { [unowned pump] _ in pump.post(.scheduler(.clockRead(.now))) })
    modemCalls = ModemCalls(
      loop: loop, address: locations.systemBus, calls: pump.scheduler.modemCalls
    ) { [unowned pump] in pump.post(.session($0)) }
    incomingCalls = try Self.incomingCalls(startup, subsystems, settings, modemCalls, pump)
    survival = try loop.timer { [unowned eventLog] in
      eventLog.setAttempts(0)
      eventLog.isTakingOver = false
    }
    try loop.enableWatchdog()
    try watchSignals()
    connect()
    let takeover = Takeover(
      subsystems: subsystems, server: server, pump: pump, eventLog: eventLog, found: startup.found,
      inherited: inherited, socketPath: arguments.socketPath, startedAt: startup.startedAt,
      log: log)
    if startup.found != nil { survival.set(BootClock.after(Self.survivalTime)) }
    // A previous daemon may have died before it reported its start to the scheduler.
    let isNew = try takeover.run() || !pump.scheduler.isStarted
    begin(isNew: isNew)
    watchSessions()
    watchCalls()
    subsystems.location.start(pump.scheduler.locationNeeds)
    try server.start()
    for number in inherited.slowToClose {
      FileDescriptor(taking: number, closesElsewhere: true).close()
    }
    reportReady(at: arguments.socketPath, isNew: isNew)
  }

  /// The time that the daemon must serve after it has replayed the event log of a previous daemon.
  /// If too many daemons in succession die earlier, the next daemon refuses the event log.
  private static let survivalTime: Duration = .milliseconds(100)

  /// The way in which the daemon has stopped.
  public enum Ending {
    /// The daemon resumed all applications.
    case stopped
    /// The daemon left suspended applications suspended, because systemd restarts the daemon.
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

  // MARK: Starting

  /// Connects the parts of the daemon with each other.
  private func connect() {
    Self.connect(subsystems.notifications, subsystems.agents, pump)
    eventLog.state = { [unowned self] in state() }
    subsystems.launches.launchRegion = { [unowned pump] key in
      pump.withScheduler { $0.launchRegion(of: key) }
    }
    settings.configure = { [unowned self] in configure($0) }
    settings.operatorsChanged = { [unowned server] in server.reconsiderOperators() }
    pump.start(runner)
  }

  /// Reports the clock and the settings to the scheduler, and begins to write to the stores. If the
  /// scheduler is new, also reports the contents of the stores, and that the daemon has started.
  private func begin(isNew: Bool) {
    pump.post(.scheduler(.clockRead(.now)))
    if isNew {
      subsystems.notifications.load()
      subsystems.location.load()
    }
    subsystems.notifications.serve()
    subsystems.location.serve()
    settings.apply()
    if isNew { pump.post(.scheduler(.started)) }
  }

  private func watchSessions() {
    do throws(SystemError) {
      try subsystems.loginSessions.start()
    } catch {
      log.write(.notice, "the daemon does not know whether a screen is locked: \(error)")
    }
  }

  private func watchCalls() {
    do throws(SystemError) {
      try modemCalls.start()
    } catch {
      log.write(.notice, "the daemon does not know of the phone calls of modems: \(error)")
    }
  }

  private func reportReady(at socketPath: String, isNew: Bool) {
    log.write(
      .notice, "ready at \(socketPath), \(settings.configuration.manifestCount)", id: .started)
    ServiceManager.notify("READY=1")
    runner.reportStatus()
    if isNew { settings.warnIfNotEnabled() }
  }

  /// Passes a configuration to the parts of the daemon that use it.
  private func configure(_ configuration: Configuration) {
    subsystems.processes.options = configuration.options
    server.options = configuration.options
    subsystems.launches.manifests = configuration.manifests
    subsystems.memory.apply(configuration.policy)
    subsystems.location.sources.gpsdSocket = configuration.options.location.gpsdSocket
    subsystems.store.save(slowToClose: systemChanges.slowToClose + subsystems.memory.slowToClose)
  }

  /// Returns the state that the event log stores for the next daemon.
  private func state() -> (DaemonState, Scheduler, requestLast: UInt64) {
    var daemonState = DaemonState()
    daemonState.instances = subsystems.processes.held
    daemonState.unmanagedLeaders = subsystems.launches.held
    daemonState.leftRunning = subsystems.launches.leftRunning
    for connection in server.connections.values {
      daemonState.connections[connection.cookie] = connection.held
    }
    return (daemonState, pump.scheduler, subsystems.requests.numberLast)
  }

  /// Returns the listening socket that systemd passed. Creates a socket if systemd passed none.
  private static func listener(
    _ inherited: [Int32], _ path: String
  ) throws -> FileDescriptor {
    guard inherited.count <= 1 else { throw StartFailure.tooManySockets(inherited.count) }
    if let number = inherited.first {
      guard ServiceManager.isListeningSocket(number) else { throw StartFailure.wrongSocket }
      return FileDescriptor(taking: number)
    }
    do throws(SystemError) {
      return try UnixSocket.listen(path: path, mode: 0o666)
    } catch {
      guard error.errno == EADDRINUSE else { throw error }
      throw StartFailure.occupied(path: path, FileStatus(path: path))
    }
  }

  // MARK: Signals

  /// Blocks the signals that the event loop handles, ignores SIGPIPE, and restores the default
  /// effect of SIGABRT. Threads that are created later inherit the blocked signals.
  private static func blockSignals() {
    // systemd's watchdog ends the daemon with SIGABRT. Swift's runtime handles that signal: it
    // prints a backtrace and returns, so the daemon would continue.
    signal(SIGABRT, SIG_DFL)
    // Standard error may be a pipe without a reader. SIGPIPE would then end the daemon.
    signal(SIGPIPE, SIG_IGN)
    var set = sigset_t()
    sigemptyset(&set)
    for signal in [SIGTERM, SIGINT, SIGHUP] { sigaddset(&set, signal) }
    sigprocmask(SIG_BLOCK, &set, nil)
  }

  private func watchSignals() throws(SystemError) {
    for signal in [SIGTERM, SIGINT] {
      signals.append(try loop.watch(signal: signal) { [unowned self] in stop() })
    }
    signals.append(try loop.watch(signal: SIGHUP) { [unowned self] in _ = settings.reload() })
  }

  // MARK: Stopping

  /// Resumes all applications, and ends the event loop. Leaves suspended applications suspended if
  /// systemd is restarting the daemon and has a descriptor store for it. With a descriptor store,
  /// systemd keeps the connections for the next daemon.
  private func stop() {
    ServiceManager.notify("STOPPING=1")
    let isKept = subsystems.store.isThere
    if isKept {
      if isRestarting() { ending = .restarting } else { resumeAll() }
      subsystems.processes.finish()
    } else {
      pump.post(.scheduler(.stop))
      subsystems.processes.finish()
      subsystems.processes.priorities.finish()
    }
    if ending == .stopped { incomingCalls.stop() }
    subsystems.notifications.finish()
    subsystems.location.finish()
    if isKept { eventLog.condense(at: pump.now) }
    eventLog.setClean(ending == .stopped)
    server.stop(keepingConnections: isKept)
    loop.exit()
  }

  /// Resumes all processes, ends all mutes and restores all volumes. Does not change the
  /// scheduler's state, which the next daemon takes over.
  private func resumeAll() {
    subsystems.processes.resumeAll()
    for user in subsystems.agents.users {
      let orders = pump.withScheduler { $0.audioOrders(for: user) }
      subsystems.agents.restoreAudio(orders, of: user)
    }
  }

  private func isRestarting() -> Bool {
    do throws(SystemError) {
      return try SystemdManager(loop: loop, scope: settings.scope)?.isRestarting() ?? false
    } catch {
      log.write(
        .warning, "cannot tell whether systemd is restarting the daemon: \(error); resuming all "
          + "applications")
      return false
    }
  }
}

extension WallTime {
  /// The present time of the wall clock.
  fileprivate static var now: WallTime { WallTime(nanoseconds: WallClock.nanoseconds) }
}

import EventLoop
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

// Creates the parts of the daemon.
extension Daemon {
  static func subsystems(
    _ arguments: Arguments, _ startup: StartupState, _ settings: CurrentSettings, _ pump: Pump,
    _ network: NetworkSockets, systemBus: BusAddress
  ) throws -> Subsystems {
    let openFiles = try ResourceLimits.raiseOpenFiles()
    let (loop, log, proc) = (startup.loop, startup.log, startup.proc)
    let eventLog = startup.eventLog
    let options = startup.configuration.options
    let post: (Event) -> Void = { [unowned pump] in pump.post($0) }
    let store = DescriptorStore()
    let launcher = try Launcher(
      proc: proc, loop: loop, socketPath: arguments.socketPath, scope: settings.scope,
      mechanism: options.launchMechanism, openFilesSoft: openFiles.forChildren)
    let processes = try ProcessController(
      proc: proc, loop: loop, options: options, eventLog: eventLog,
      scans: DescriptorScans(
        proc: proc, diagnosis: try? network.openDiagnosis(in: proc), loop: loop),
      store: store, unitExits: launcher.ends,
      state: { [unowned pump] id in pump.withScheduler { $0.state(of: id) } }, report: post)
    let notifications = try LocalNotifications(
      path: arguments.statePath.map { $0 + "/notifications.db" }, loop: loop, log: log, post: post)
    notifications.displayName = { [unowned settings] in
      settings.configuration.manifests[$0.id]?.displayName
    }
    var locations = MemoryService.Locations(
      memInfo: arguments.memInfo, pressure: arguments.memoryPressure)
    locations.slicePressure = launcher.groups.map { "\($0.parent.path)/memory.pressure" }
    let loginSessions = LoginSessions(
      loop: loop, address: systemBus,
      user: settings.isUserDaemon ? Users.effectiveUID : nil,
      locked: Set(pump.scheduler.lockedSeats),
      requested: Set(pump.scheduler.seatsLockedByRequest)
    ) { post(.session($0)) }
    let agents = sessionAgents(startup, processes, loginSessions, pump)
    return Subsystems(
      processes: processes, launcher: launcher,
      launches: Launches(
        launcher: launcher, manifests: startup.configuration.manifests,
        membership: processes.membership, eventLog: eventLog, log: log, post: post),
      requests: Requests(
        eventLog: eventLog, numberLast: startup.found?.replay.requestLast ?? 0),
      streams: EventStreams(eventLog: eventLog) { [unowned processes] in processes[$0] },
      monitors: Monitors(eventLog: eventLog),
      agents: agents,
      sockets: ManagedSockets(loop: loop) { id, ready in
        post(.socket(.ready(id, ready.map { SocketReadiness(SocketID($0), .init($1)) })))
      },
      pictures: SnapshotPictures(store: store), notifications: notifications,
      memory: MemoryService(
        locations: locations, processes: processes, loop: loop, log: log, post: post),
      loginSessions: loginSessions,
      location: try machineLocation(
        arguments, startup, settings, pump, notifications.agents, agents, systemBus: systemBus),
      store: store)
  }

  private static func sessionAgents(
    _ startup: StartupState, _ processes: ProcessController, _ loginSessions: LoginSessions,
    _ pump: Pump
  ) -> SessionAgents {
    let post: (Event) -> Void = { [unowned pump] in pump.post($0) }
    return SessionAgents(
      windows: WindowReports(
        processes: processes,
        inFront: { [unowned pump] ids in pump.withScheduler { $0.inFront(ids) } },
        focusMoved: { [unowned loginSessions] in loginSessions.focusMoved(by: $0) }, post: post),
      audio: AudioReports(processes: processes, post: post),
      players: PlayerReports(
        processes: processes,
        isAffected: { [unowned pump] call, id, user in
          pump.withScheduler { $0.isAffected(by: call, id, of: user, at: pump.now) }
        }, post: post),
      locations: LocationReports(post: post), eventLog: startup.eventLog)
  }

  private static func machineLocation(
    _ arguments: Arguments, _ startup: StartupState, _ settings: CurrentSettings, _ pump: Pump,
    _ notifications: AgentNotifications, _ agents: SessionAgents, systemBus: BusAddress
  ) throws(SystemError) -> MachineLocation {
    let post: (LocationEvent) -> Void = { [unowned pump] in pump.post(.location($0)) }
    return MachineLocation(
      sources: LocationSources(
        loop: startup.loop, log: startup.log,
        gpsdSocket: startup.configuration.options.location.gpsdSocket, systemBus: systemBus,
        post: post),
      transactions: try LocationTransactions(
        path: arguments.statePath.map { $0 + "/location.db" }, loop: startup.loop,
        log: startup.log, post: post),
      questions: LocationQuestions(
        notifications,
        .init(
          questions: { [unowned pump] user in
            pump.withScheduler { $0.locationQuestions(for: user) }
          },
          manifest: { [unowned settings] in settings.configuration.manifests[$0] }, post: post)),
      agents: agents)
  }

  /// Connects the session agents with the notifications that they show, and with the scheduler.
  static func connect(
    _ notifications: LocalNotifications, _ agents: SessionAgents, _ pump: Pump
  ) {
    notifications.agents.send = { [unowned agents] in agents.order($0, to: $1) }
    notifications.agents.begin = { [unowned agents] in agents.begin(with: $0, for: $1) }
    notifications.recordingNotices = { [unowned pump] user in
      pump.withScheduler { $0.recordingNotices(for: user) }
    }
    agents.displayName = notifications.displayName
    agents.attached = { [unowned notifications, unowned agents, unowned pump] user in
      notifications.agentAttached(user)
      let (orders, confirm) = pump.withScheduler {
        ($0.audioOrders(for: user), $0.lastConfirm(of: user))
      }
      agents.begin(with: orders, confirm: confirm, for: user)
      if let player = pump.withScheduler({ $0.remotePlayer(for: user) }) {
        agents.present(player, to: user)
      }
    }
  }

  /// Creates the part that shows incoming calls. Connects it with the modems' calls, the session
  /// agents, the login sessions and the scheduler.
  static func incomingCalls(
    _ startup: StartupState, _ subsystems: Subsystems, _ settings: CurrentSettings,
    _ modemCalls: ModemCalls, _ pump: Pump
  ) throws(SystemError) -> IncomingCalls {
    let ownUser = UserID(Users.effectiveUID)
    let (agents, loginSessions) = (subsystems.agents, subsystems.loginSessions)
    let environment = IncomingCalls.Environment(
      localUsers: { [unowned loginSessions] in loginSessions.localUsers },
      ownUser: ownUser,
      isAttached: { [unowned agents] in agents.isAttached($0) },
      application: { [unowned settings] in
        let configuration = settings.configuration
        return configuration.options.callApplication.map {
          (id: $0, manifest: configuration.manifests[$0]?.manifest(daemonUser: ownUser))
        }
      },
      answer: { [unowned modemCalls] in modemCalls.answer($0, $1, failed: $2) },
      post: { [unowned pump] in pump.post(.session($0)) })
    let calls = try IncomingCalls(
      subsystems.notifications.agents, loop: startup.loop, log: startup.log,
      announced: Set(pump.scheduler.modemCalls.map(\.id)), environment)
    modemCalls.incomingChanged = { [unowned calls] in calls.update($0) }
    loginSessions.localUsersChanged = { [unowned calls] in calls.usersChanged() }
    subsystems.notifications.notices = [calls, subsystems.location.questions]
    return calls
  }

  static func server(
    _ startup: StartupState, _ subsystems: Subsystems, listener: consuming FileDescriptor,
    socketPath: String, _ settings: CurrentSettings, _ pump: Pump
  ) throws(SystemError) -> Server {
    let applications = ApplicationService(
      requests: subsystems.requests, launches: subsystems.launches, agents: subsystems.agents,
      processes: subsystems.processes, sockets: subsystems.sockets,
      pictures: subsystems.pictures, notifications: subsystems.notifications, pump: pump,
      settings: settings)
    let control = ControlService(
      requests: subsystems.requests, launches: subsystems.launches, agents: subsystems.agents,
      processes: subsystems.processes, monitors: subsystems.monitors,
      notifications: subsystems.notifications, memory: subsystems.memory,
      pictures: subsystems.pictures, loginSessions: subsystems.loginSessions,
      locationSources: { [sources = subsystems.location.sources] in sources.states },
      pump: pump, settings: settings, log: startup.log)
    subsystems.agents.windows.adoption = adoption(
      startup, subsystems, settings, pump, socketPath: socketPath)
    let sessions = SessionService(
      agents: subsystems.agents, applications: applications,
      notifications: subsystems.notifications)
    return try Server(
      listener: listener, applications: applications, control: control, sessions: sessions,
      options: startup.configuration.options, loop: startup.loop, proc: startup.proc,
      log: startup.log, eventLog: startup.eventLog, store: subsystems.store
    ) { [unowned pump] connection in
      subsystems.monitors.remove(connection)
      subsystems.agents.closed(connection)
      subsystems.requests.forget(connection)
      if let id = subsystems.streams.closed(connection) {
        pump.post(.application(.streamClosed(id)))
      }
    }
  }

  /// Returns the part that adopts programs because of their windows.
  private static func adoption(
    _ startup: StartupState, _ subsystems: Subsystems, _ settings: CurrentSettings, _ pump: Pump,
    socketPath: String
  ) -> DesktopAdoption {
    let environment = DesktopAdoption.Environment(
      refusal: { [unowned settings] in try settings.refusal(of: $0, uid: $1) },
      seat: { DefaultSeats().ofUser($0) },
      isRunning: { [unowned pump] key in pump.withScheduler { $0.isRunning(key) } },
      adopt: { [unowned pump, requests = subsystems.requests] in
        pump.post(.operation(.adopt(requests.openOwn(), $0)))
      }, socketPath: socketPath)
    return DesktopAdoption(
      processes: subsystems.processes, launches: subsystems.launches, environment: environment,
      log: startup.log
    ) { [unowned agents = subsystems.agents] in try agents.isNeeded($0, in: startup.proc) }
  }

  static func runner(
    _ startup: StartupState, _ subsystems: Subsystems, _ server: Server, _ pump: Pump
  ) throws(SystemError) -> EffectRunner {
    let processes = subsystems.processes
    let limitCheck = try LimitCheck(
      loop: startup.loop,
      connections: server.limitCheckConnections { [unowned processes] in processes[$0]?.uid },
      isTraced: { [unowned processes] in processes.checkTracer($0, answer: $1) },
      report: { [unowned pump] in pump.post($0) })
    let serviceStatus = try ServiceStatus(loop: startup.loop) { [unowned pump] in
      ServiceStatus.text(pump.scheduler.runningCounts)
    }
    let timer = try DeadlineTimer(loop: startup.loop, log: startup.log) { [unowned pump] in
      pump.post(.scheduler(.deadlineReached))
    }
    return EffectRunner(
      subsystems, limitCheck: limitCheck, timer: timer, eventLog: startup.eventLog,
      serviceStatus: serviceStatus, log: startup.log
    ) { [unowned pump] in pump.post($0) }
  }
}

import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

// Creates the parts of the daemon.
extension Daemon {
  static func parts(
    _ arguments: Arguments, _ beginning: Beginning, _ settings: CurrentSettings, _ pump: Pump
  ) throws -> Parts {
    let openFiles = try ResourceLimits.raiseOpenFiles()
    let (loop, log, proc) = (beginning.loop, beginning.log, beginning.proc)
    let eventLog = beginning.eventLog
    let options = beginning.configuration.options
    let post: (Event) -> Void = { [unowned pump] in pump.post($0) }
    let store = DescriptorStore()
    let launcher = try Launcher(
      proc: proc, loop: loop, socketPath: arguments.socketPath, scope: settings.scope,
      mechanism: options.launchMechanism, openFilesSoft: openFiles.forChildren)
    let processes = try ProcessController(
      proc: proc, loop: loop, options: options, eventLog: eventLog, store: store,
      unitEnds: launcher.ends, state: { [unowned pump] in pump.state(of: $0) },
      report: post)
    let notifications = try LocalNotifications(
      path: arguments.statePath.map { $0 + "/notifications.db" }, desktops: arguments.desktops,
      loop: loop, log: log, post: post)
    notifications.displayName = { [unowned settings] in
      settings.configuration.manifests[$0.id]?.displayName
    }
    var places = MemoryService.Places(
      memInfo: arguments.memInfo, pressure: arguments.memoryPressure)
    places.slicePressure = launcher.groups.map { "\($0.parent.path)/memory.pressure" }
    return Parts(
      processes: processes, launcher: launcher,
      launches: Launches(
        launcher: launcher, membership: processes.membership, eventLog: eventLog, log: log,
        post: post),
      requests: Requests(
        eventLog: eventLog, numberLast: beginning.remains.replay?.requestLast ?? 0),
      streams: EventStreams(eventLog: eventLog) { [unowned processes] in processes[$0] },
      monitors: Monitors(eventLog: eventLog),
      sockets: ManagedSockets(loop: loop) { id, ready in
        post(.socket(.ready(id, ready.map { SocketReadiness(SocketID($0), .init($1)) })))
      },
      notifications: notifications,
      memory: MemoryService(
        places: places, processes: processes, loop: loop, log: log, post: post),
      store: store)
  }

  static func server(
    _ beginning: Beginning, _ parts: Parts, listener: consuming FileDescriptor,
    _ settings: CurrentSettings, _ pump: Pump
  ) throws(SystemError) -> Server {
    let applications = ApplicationService(
      requests: parts.requests, launches: parts.launches, processes: parts.processes,
      sockets: parts.sockets, notifications: parts.notifications, pump: pump, settings: settings)
    let control = ControlService(
      requests: parts.requests, launches: parts.launches, processes: parts.processes,
      monitors: parts.monitors, notifications: parts.notifications, memory: parts.memory,
      pump: pump, settings: settings, log: beginning.log)
    return try Server(
      listener: listener, applications: applications, control: control,
      options: beginning.configuration.options, loop: beginning.loop, proc: beginning.proc,
      log: beginning.log, eventLog: beginning.eventLog, store: parts.store
    ) { [unowned pump] connection in
      parts.monitors.remove(connection)
      parts.requests.forget(connection)
      if let id = parts.streams.closed(connection) { pump.post(.application(.streamClosed(id))) }
    }
  }

  static func runner(
    _ beginning: Beginning, _ parts: Parts, _ server: Server, _ pump: Pump
  ) throws(SystemError) -> EffectRunner {
    let processes = parts.processes
    let limitCheck = try LimitCheck(
      loop: beginning.loop,
      connections: server.limitCheckConnections { [unowned processes] in processes[$0]?.uid },
      isTraced: { [unowned processes] in processes.checkTracer($0, answer: $1) },
      report: { [unowned pump] in pump.post($0) })
    let serviceStatus = try ServiceStatus(loop: beginning.loop) { [unowned pump] in
      ServiceStatus.text(pump.scheduler.runningCounts)
    }
    let timer = try DeadlineTimer(loop: beginning.loop, log: beginning.log) { [unowned pump] in
      pump.post(.scheduler(.deadlineReached))
    }
    return EffectRunner(
      parts, limitCheck: limitCheck, timer: timer, eventLog: beginning.eventLog,
      serviceStatus: serviceStatus, log: beginning.log
    ) { [unowned pump] in pump.post($0) }
  }
}

import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// Carries out what the policy says, one effect after the other.
final class EffectRunner {
  /// A process that the policy is about to be told of.
  struct Arrival {
    var process: ProcessHandle
    var uid: UInt32
    var origin: InstanceProcesses.Origin
    /// The launch that it was started for, where that is known before its program runs.
    var launch: InstanceID?
  }

  let processes: ProcessController
  let launcher: Launcher
  private let requests: Requests
  private let streams: EventStreams
  private let monitors: Monitors
  let log: Log
  /// Asked before a limit is enforced. Set once, before the first effect.
  var hearing: Hearing?
  private let sockets: ManagedSockets
  private let notifications: LocalNotifications
  private let memory: MemoryService
  private let store: DescriptorStore
  let eventLog: EventLog
  let post: (Event) -> Void
  var arrivals: [Leader: Arrival] = [:]
  /// Launches that are under way, and those of them of whose outcome the policy is being told.
  var launching: Set<InstanceID> = []
  var launched: Set<InstanceID> = []
  /// What ran on when the scheduler stopped.
  var runningOn: [Leader: Holdings.Instance] = [:]
  var manifests: [ApplicationID: ApplicationManifest] = [:]
  /// What systemd shows of the daemon; set where systemd listens.
  var serviceStatus: ServiceStatus?

  init(
    processes: ProcessController, launcher: Launcher, requests: Requests, streams: EventStreams,
    monitors: Monitors, sockets: ManagedSockets, notifications: LocalNotifications,
    memory: MemoryService, store: DescriptorStore, log: Log, eventLog: EventLog,
    post: @escaping (Event) -> Void
  ) {
    self.sockets = sockets
    self.notifications = notifications
    self.memory = memory
    self.store = store
    self.eventLog = eventLog
    self.processes = processes
    self.launcher = launcher
    self.requests = requests
    self.streams = streams
    self.monitors = monitors
    self.log = log
    self.post = post
  }

  func run(_ effect: Effect, at now: Instant) {
    switch effect {
    case .reply(let request, let reply):
      answer(request, reply)
    case .deliver(let id, let callback, let reason):
      if callback.kind == .willTerminate { processes.remember(id) }
      streams.send(
        .init(
          callback: .init(
            id: Int(clamping: callback.id.number), kind: .init(callback.kind),
            launchReason: reason.map { .init($0) })), to: id)
    case .expire(let id, let task, let remaining):
      streams.send(
        .init(
          expiration: .init(
            task: Int(clamping: task.number),
            backgroundTimeRemainingUSec: remaining?.microseconds)), to: id)
    case .notify(let id, let notice):
      if let event = event(of: notice) { streams.send(event, to: id) }
    case .socket(let effect):
      run(effect)
    case .notification(let effect):
      notifications.run(effect, at: WallTime(nanoseconds: WallClock.nanoseconds))
    case .memory(let effect):
      memory.run(effect)
    case .spawn(let id, let key, let reason):
      spawn(id, key, reason)
    case .manage(let id, let leader, let key):
      manage(id, leader, key)
    case .suspend(let id): processes.suspend(id)
    case .resume(let id): processes.resume(id)
    case .terminate(let id, let signal): processes.terminate(id, by: signal)
    case .kill(let id): processes.kill(id)
    case .release(let id, let killing):
      streams.close(id)
      for socket in sockets.sockets(of: id) { store.remove(socket: socket, of: id) }
      sockets.removeAll(of: id)
      processes.release(id, killing: killing)
    case .checkTracer(let id):
      hearing?.ask(id)
    case .record(let record):
      log.write(record, at: now) { [processes] in
        record.leader.flatMap { processes.unit(of: $0) }
      }
      monitors.tell(record, at: now)
      if case .transition = record.change { serviceStatus?.note() }
    case .resources(let effect): processes.run(effect)
    }
  }

  private func run(_ effect: SocketEffect) {
    switch effect {
    case .hold(let id, let socket):
      if let watch = sockets.watchDescriptor(of: socket.number, id) {
        store.save(socket: socket.number, of: id, watch: watch)
      }
    case .letGo(let id, let socket):
      sockets.remove(socket.number, of: id)
      store.remove(socket: socket.number, of: id)
    case .watch(let id): sockets.watch(id)
    case .stopWatching(let id): sockets.unwatch(id)
    }
  }

  /// What the event stream says of a notice; nil where its notification is there no longer.
  private func event(of notice: Notice) -> ApplicationInterface.Register.Output? {
    switch notice {
    case .socketsReady(let id, let ready):
      return .init(socketEvent: .init(id, ready))
    case .systemChanges(let changes):
      return .init(systemChanges: changes.map { .init($0) })
    case .notificationFired(let id):
      guard let stored = notifications.notification(id) else { return nil }
      return .init(notification: .init(notification: .init(stored), chosen: false))
    case .notificationChosen(let id):
      guard let stored = notifications.notification(id) else { return nil }
      return .init(notification: .init(notification: .init(stored), chosen: true))
    case .memoryWarning:
      return .init(memoryWarning: true)
    }
  }

  private func answer(_ request: RequestID, _ reply: TaskSchedulerCore.Reply) {
    // The stream is the instance's before its first event can be sent.
    if case .registered(let registration) = reply, let connection = requests.connection(of: request)
    {
      streams.open(registration.instance, connection)
    }
    requests.answer(request, reply)
  }

  private func manage(_ id: InstanceID, _ leader: Leader, _ key: ApplicationKey) {
    // Taken over from an earlier daemon, whose effect this was.
    if processes[id] != nil { return }
    guard let arrival = arrivals.removeValue(forKey: leader) else {
      // An earlier daemon's, that ended before it could be taken over.
      return post(.leaderExited(id, .unknown))
    }
    do throws(SystemError) {
      try processes.manage(
        id, of: key.id.name, leader: arrival.process, uid: arrival.uid, origin: arrival.origin)
    } catch {
      // The daemon would not learn when the process terminates.
      log.write(.error, "cannot monitor process \(leader.pid), so it is released: \(error)")
      post(.leaderExited(id, .unknown))
    }
  }
}

extension Leader {
  init(_ identity: ProcessIdentity) {
    self.init(pid: identity.pid, startTime: identity.startTime)
  }
}

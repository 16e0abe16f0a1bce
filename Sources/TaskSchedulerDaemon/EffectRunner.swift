import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerJournal
import TaskSchedulerWire

/// Carries out what the policy says, one effect after the other.
final class EffectRunner {
  /// A process that the policy is about to be told of.
  struct Arrival {
    var process: ProcessHandle
    var uid: UInt32
    var origin: InstanceProcesses.Origin
  }

  private let processes: ProcessController
  private let launcher: Launcher
  private let requests: Requests
  private let streams: EventStreams
  private let monitors: Monitors
  private let log: Log
  private let sockets: ManagedSockets
  private let notifications: LocalNotifications
  private let store: DescriptorStore
  private let journal: Journal
  private let post: (Event) -> Void
  private var arrivals: [Leader: Arrival] = [:]
  var manifests: [ApplicationID: ApplicationManifest] = [:]

  init(
    processes: ProcessController, launcher: Launcher, requests: Requests, streams: EventStreams,
    monitors: Monitors, sockets: ManagedSockets, notifications: LocalNotifications,
    store: DescriptorStore, log: Log, journal: Journal, post: @escaping (Event) -> Void
  ) {
    self.sockets = sockets
    self.notifications = notifications
    self.store = store
    self.journal = journal
    self.processes = processes
    self.launcher = launcher
    self.requests = requests
    self.streams = streams
    self.monitors = monitors
    self.log = log
    self.post = post
  }

  /// To be called before the event that tells the policy of this leader.
  func expect(_ arrival: Arrival) -> Leader {
    let leader = Leader(arrival.process.identity)
    arrivals[leader] = arrival
    journal.note(.arrival(arrival.origin.arrival(of: arrival.process.identity, uid: arrival.uid)))
    return leader
  }

  /// An earlier daemon expected this leader.
  func restore(_ arrival: Arrival) {
    arrivals[Leader(arrival.process.identity)] = arrival
  }

  /// The policy has answered: what it did not take is let go.
  func forgetArrivals() {
    if !arrivals.isEmpty { arrivals = [:] }
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
    case .spawn(let id, let key, let reason):
      spawn(id, key, reason)
    case .manage(let id, let leader, let key):
      manage(id, leader, key)
    case .suspend(let id): processes.suspend(id)
    case .resume(let id): processes.resume(id)
    case .terminate(let id): processes.terminate(id)
    case .kill(let id): processes.kill(id)
    case .release(let id, let killing):
      streams.close(id)
      for socket in sockets.sockets(of: id) { store.remove(socket: socket, of: id) }
      sockets.removeAll(of: id)
      processes.release(id, killing: killing)
    case .checkTracer(let id):
      post(.tracerChecked(id, isTraced: processes.isTraced(id)))
    case .record(let record):
      log.write(record, at: now)
      monitors.tell(record, at: now)
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
      // Without seeing its end no promise about it can be kept.
      log.write(.error, "process \(leader.pid) cannot be watched and is let go: \(error)")
      post(.leaderExited(id, .unknown))
    }
  }

  private func spawn(
    _ id: InstanceID, _ key: ApplicationKey, _ reason: TaskSchedulerCore.LaunchReason
  ) {
    guard let manifest = manifests[key.id] else {
      return post(.spawnFailed(id, reason: "its manifest is gone"))
    }
    launcher.launch(manifest, as: id, reason: reason) { [unowned self] result in
      switch result {
      case .success(let launched):
        let leader = expect(
          Arrival(process: launched.process, uid: launched.uid, origin: launched.origin))
        post(.spawned(id, leader))
      case .failure(let failure):
        post(.spawnFailed(id, reason: failure.reason))
      }
    }
  }
}

extension Leader {
  init(_ identity: ProcessIdentity) {
    self.init(pid: identity.pid, startTime: identity.startTime)
  }
}

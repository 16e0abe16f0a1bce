import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog
import TaskSchedulerWire

/// The handler that carries out the scheduler's effects.
final class EffectRunner: EffectHandler {
  private let subsystems: Subsystems
  /// The check that reads the unread messages of an application before the scheduler enforces a
  /// limit.
  private let limitCheck: LimitCheck
  private let timer: DeadlineTimer
  private let eventLog: EventLog
  /// The status text that `systemctl status` shows; nil without a service manager.
  private let serviceStatus: ServiceStatus?
  private let log: Log
  private let post: (Event) -> Void

  init(
    _ subsystems: Subsystems, limitCheck: LimitCheck, timer: DeadlineTimer, eventLog: EventLog,
    serviceStatus: ServiceStatus?, log: Log, post: @escaping (Event) -> Void
  ) {
    self.subsystems = subsystems
    self.limitCheck = limitCheck
    self.timer = timer
    self.eventLog = eventLog
    self.serviceStatus = serviceStatus
    self.log = log
    self.post = post
  }

  private var processes: ProcessController { subsystems.processes }
  private var streams: EventStreams { subsystems.streams }
  private var sockets: ManagedSockets { subsystems.sockets }
  private var notifications: LocalNotifications { subsystems.notifications }
  private var store: DescriptorStore { subsystems.store }

  func willHandle(_ event: Event) {
    if event.request != nil { eventLog.call?.takeMessage() }
    if case .scheduler(.stop) = event { subsystems.launches.leaveRunning(processes.held) }
  }

  func didHandle(_ event: Event) {
    if let request = event.request { subsystems.requests.saveIfWaiting(request) }
  }

  func didHandleAll(deadline: Instant?, wakeUp: Instant?) {
    subsystems.launches.forgetUnmanagedLeaders()
    timer.set(deadline: deadline, wakeUp: wakeUp)
  }

  /// Shows the daemon's state in `systemctl status`, if it has changed.
  func reportStatus() { serviceStatus?.report() }

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
      subsystems.memory.run(effect)
    case .spawn(let id, let key, let reason):
      subsystems.launches.spawn(id, key, reason)
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
      limitCheck.ask(id)
    case .record(let record):
      log.write(record, at: now) { [processes] in
        record.leader.flatMap { processes.unit(of: $0) }
      }
      subsystems.monitors.send(record, at: now)
      if case .transition = record.change { serviceStatus?.note() }
    case .resources(let effect): processes.run(effect)
    case .dropPicture(let id): subsystems.pictures.drop(id)
    case .audio(.showRecording(let notice)):
      notifications.recordings.show(notice, name: notifications.displayName(notice.application))
    case .audio(.hideRecording(let id, let key)): notifications.recordings.hide(id, of: key)
    case .audio(let effect): subsystems.agents.run(effect)
    case .remote(let effect): subsystems.agents.run(effect)
    case .location(let effect): subsystems.location.run(effect)
    }
  }

  private func run(_ effect: SocketEffect) {
    switch effect {
    case .hold(let id, let socket):
      if let watch = sockets.watchDescriptor(of: socket.number, id) {
        store.save(socket: socket.number, of: id, watch: watch)
      }
    case .release(let id, let socket):
      sockets.remove(socket.number, of: id)
      store.remove(socket: socket.number, of: id)
    case .watch(let id): sockets.watch(id)
    case .stopWatching(let id): sockets.unwatch(id)
    }
  }

  /// Returns the event to send to an application for a ``Notice``; nil if the notice is about a
  /// notification that was removed.
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
    case .remoteControl(let id, let command):
      return .init(remoteCommand: .init(id, command))
    case .audioInterruption(let id, let interruption):
      return .init(audioInterruption: .init(id, interruption))
    case .call(let id, let isOnHold):
      return .init(call: .init(id: Int(clamping: id.number), onHold: isOnHold))
    case .location(let location):
      return .init(location: .init(location))
    case .significantChange(let id, let location):
      return .init(significantLocationChange: .init(id, location))
    case .region(let id, let crossing, let location):
      return .init(region: .init(id, crossing, location))
    case .locationAuthorization(let authorization):
      return .init(locationAuthorization: .init(authorization))
    }
  }

  private func answer(_ request: RequestID, _ reply: TaskSchedulerCore.Reply) {
    // The instance must own the stream before the daemon sends the first event.
    if case .registered(let registration) = reply,
      let connection = subsystems.requests.connection(of: request)
    {
      streams.open(registration.instance, connection)
    }
    subsystems.requests.answer(request, reply)
  }

  private func manage(_ id: InstanceID, _ leader: Leader, _ key: ApplicationKey) {
    // The daemon already manages the process. It took the process over from a previous daemon,
    // which had begun to carry out this effect.
    if processes[id] != nil { return }
    guard let details = subsystems.launches.take(leader) else {
      // The process ended before this daemon could take it over.
      return post(.process(.leaderExited(id, .unknown)))
    }
    do throws(SystemError) {
      try processes.manage(
        id, of: key.id.name, leader: details.process, uid: details.uid, origin: details.origin)
    } catch {
      // Without a pidfd, the daemon would not notice the end of the process.
      log.write(
        .error,
        "cannot monitor process \(leader.pid), so the daemon no longer manages it: \(error)")
      post(.process(.leaderExited(id, .unknown)))
    }
  }
}

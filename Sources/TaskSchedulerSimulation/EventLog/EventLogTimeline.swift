import TaskSchedulerCore
import TaskSchedulerEventLog

/// The timeline of a daemon's event log: the state at the start of the event log, and each later
/// event with its effects.
public struct EventLogTimeline {
  /// The state at the start of the event log.
  public let start: EventLogStart
  public private(set) var timeline = Timeline()
  /// The number of events in the timeline.
  public private(set) var eventCount = 0
  /// The damage at which the timeline ends; nil if the event log is intact.
  public private(set) var damage: EventLogDamage?
  /// The violation of an invariant or of the contract, at which the timeline ends; nil if there is
  /// none.
  public private(set) var violation: Violation?

  private var checker: TraceChecker
  /// The instant of the last event.
  private var now: Instant
  private var names: [InstanceID: ApplicationID] = [:]
  private var callbacks: [InstanceID: [CallbackID: CallbackKind]] = [:]

  /// An instant that is later than every event: a hundred years after boot.
  private static let latest = Instant(nanoseconds: 36_525 * 86_400 * Nanoseconds.second)

  /// Reads an event log, which need not be from the current boot.
  ///
  /// - Parameter bytes: The event log. The bytes may have any content.
  public init(_ bytes: UnsafeRawBufferPointer) throws(EventLogRefusal) {
    let reader = try EventLogReader(bytes, boot: nil)
    start = reader.start
    now = start.at
    var replay = try Replay(beginning: reader, now: Self.latest)
    checker = TraceChecker(from: replay.scheduler)
    for status in replay.scheduler.statuses(at: now) {
      if let instance = status.instance { names[instance.id] = status.key.id }
      note(status.key.id, .stands(status.state, status.instance?.tasks ?? []))
    }
    // The event log may begin in the middle of an event. The remaining effects of that event then
    // come first.
    for effect in start.effects { note(effect) }
    while violation == nil, let step = replay.next() { take(step, replay.scheduler) }
    damage = replay.damage
  }

  private mutating func take(_ handled: Replay.Step, _ scheduler: Scheduler) {
    let event = handled.event
    now = handled.at
    eventCount += 1
    // The event must be described before its effects are noted, because the effect `release`
    // removes the name of an ended instance.
    let step = step(event)
    do throws(Violation) {
      try checker.check(event, handled.effects, scheduler, at: now)
      if case .scheduler(.recovered) = event { note(nil, .daemonReturned) }
      // The timeline omits an expired deadline without effects.
      if let step, event != .scheduler(.deadlineReached) || !handled.effects.isEmpty {
        note(nil, .step(step))
      }
      for effect in handled.effects { note(effect) }
    } catch {
      if let step { note(nil, .step(step)) }
      violation = error
    }
  }

  private mutating func note(_ application: ApplicationID?, _ kind: Timeline.Kind) {
    timeline.entries.append(
      Timeline.Entry(
        // Instants on the wire are also in microseconds.
        at: .microseconds(Int64(now.nanoseconds / 1000 - start.at.nanoseconds / 1000)),
        application: application, kind: kind))
  }

  private mutating func note(_ effect: Effect) {
    switch effect {
    case .deliver(let id, let callback, _):
      callbacks[id, default: [:]][callback.id] = callback.kind
      note(names[id], .callback(callback.kind))
    case .expire(let id, let task, let remaining):
      note(names[id], .expiration(task, remaining: remaining))
    case .spawn(let id, let key, _), .manage(let id, _, let key): names[id] = key.id
    case .terminate(let id, let signal): note(names[id], .signal(signal))
    case .kill(let id): note(names[id], .signal(.kill))
    case .release(let id, _):
      names[id] = nil
      callbacks[id] = nil
    case .record(let record): note(record.application.id, .change(record.change))
    case .notify(let id, let notice): note(names[id], .notice(notice))
    case .notification(.fire(let id, let key, _, nil)): note(key.id, .shown(id))
    case .reply, .socket, .notification, .memory, .suspend, .resume, .checkTracer, .resources,
      .dropPicture, .audio, .remote, .location:
      break
    }
  }

  // MARK: Events in words

  private func name(_ id: InstanceID) -> String {
    names[id]?.name ?? "instance \(id.number)"
  }

  /// Describes an event in the words of a scenario, if possible. Returns nil if the timeline shows
  /// the event only by its effects.
  private func step(_ event: Event) -> String? {
    func to(_ target: LaunchTarget) -> String { target == .background ? " background" : "" }
    switch event {
    case .application(.register(_, let key, _, let target, _)):
      return "register \(key.id.name)\(to(target))"
    case .operation(.launch(_, let key, let target, _)): return "launch \(key.id.name)\(to(target))"
    case .operation(.adopt(_, let adoption)):
      return "adopt \(adoption.application.id.name)\(to(adoption.target))"
    case .operation(.activate(_, let key)): return "activate \(key.id.name)"
    case .operation(.deactivate(_, let key)): return "interrupt \(key.id.name)"
    case .operation(.sendToBackground(_, let key)): return "send-away \(key.id.name)"
    case .operation(.remoteControl(_, let user, let command)):
      return "remote control of user \(user.uid): \(EventLogText.text(command))"
    case .operation(.terminate(_, let key, let byUser)):
      return "terminate \(key.id.name)\(byUser ? " by the user" : "")"
    case .scheduler(.deadlineReached): return "a deadline of the scheduler was reached"
    case .scheduler(.policyChanged): return "the settings were read again"
    case .scheduler(.manifestsChanged): return "the manifests were read"
    case .scheduler(.started): return "the daemon starts"
    case .scheduler(.stop): return "the daemon stops"
    case .scheduler(.clockRead): return "the wall clock was read"
    case .systemChanged(_, let change, _): return "change \(EventLogText.text(change))"
    case .notification(let event): return EventLogText.step(event)
    case .memory(let event): return EventLogText.step(event)
    case .session(let event): return step(event)
    case .switcher(let event): return step(event)
    case .location(let event): return EventLogText.step(event) { name($0) }
    case .application, .socket, .process, .scheduler(.recovered), .resources:
      return stepOfInstance(event)
    }
  }

  private func step(_ event: SwitcherEvent) -> String {
    switch event {
    case .setSnapshot(_, let id, .picture): "snapshot \(name(id))"
    case .setSnapshot(_, let id, .sensitive): "snapshot \(name(id)) sensitive"
    case .setSnapshot(_, let id, nil): "snapshot \(name(id)) none"
    case .remove(_, let key, let byUser):
      "remove \(key.id.name) from the switcher\(byUser ? " by the user" : "")"
    case .lost(let ids): "the daemon has lost \(ids.count) snapshots"
    }
  }

  private func step(_ event: SessionEvent) -> String {
    switch event {
    case .agentAttached(let user): return "the session agent of user \(user.uid) attached"
    case .windows(let user, let snapshot):
      let windows = snapshot.windows.map { "\(name($0.instance)) \($0.visibility.rawValue)" }
      let text = windows.isEmpty ? "none" : windows.joined(separator: ", ")
      let focus = snapshot.hasFocus ? "" : ", without focus"
      return "windows of user \(user.uid): \(text)\(focus)"
    case .agentLost(let user): return "the session agent of user \(user.uid) disconnected"
    case .audio(let user, let snapshot):
      let streams = snapshot.streams.compactMap { stream in
        stream.instance.map { "\(name($0)) \(EventLogText.text(stream))" }
      }
      let text = streams.isEmpty ? "none" : streams.joined(separator: ", ")
      let manager = snapshot.managesRoles ? ", the server manages roles" : ""
      return "audio of user \(user.uid): \(text)\(manager)"
    case .audioLost(let user): return "the audio of user \(user.uid) is no longer reported"
    case .recordingChosen(let key): return "the user chose the notice that \(key.id.name) records"
    case .players(let user, let ids):
      let text = ids.isEmpty ? "none" : ids.map { name($0) }.joined(separator: ", ")
      return "media players of user \(user.uid): \(text)"
    case .playerCalled(_, let id, .command):
      return "a program sent the player \(name(id)) a command"
    case .playerCalled(_, let id, .read): return "a program read the player \(name(id))"
    case .modemCalls(let calls):
      return calls.isEmpty
        ? "the modems have no call"
        : "the modems have \(calls.count) calls, \(calls.count { $0.isAnswered }) of them answered"
    case .incomingCall(let key): return "an incoming call concerns \(key.id.name)"
    case .callAnswered(let key): return "the user answered a call with \(key.id.name)"
    case .remoteCommand(_, let command):
      return "the media player taskschedd received \(EventLogText.text(command))"
    case .locked(let seat, byRequest: _): return "lock \(seat.name)"
    case .unlocked(let seat): return "unlock \(seat.name)"
    }
  }

  private func stepOfInstance(_ event: Event) -> String? {
    switch event {
    case .application(.streamClosed(let id)): return "\(name(id)) closed its event stream"
    case .application(.acknowledge(_, let id, let callback)):
      let kind = callbacks[id]?[callback]?.rawValue ?? "callback \(callback.number)"
      return "\(name(id)) acknowledged \(kind)"
    case .application(.beginBackgroundTask(_, let id, let task)):
      return "begin \(name(id))\(task.map { " \($0)" } ?? "")"
    case .application(.endBackgroundTask(_, let id, let task)):
      return "end \(name(id)) task \(task.number)"
    case .application(.setKeepAlive(_, let id, let interval)):
      return "keep-alive \(name(id)) \(interval.map { TimeSpan.format($0) } ?? "never")"
    case .application(.setAudioSession(_, let id, let session)):
      return "\(name(id)) set its audio session: \(EventLogText.text(session))"
    case .application(.beginCall(_, let id)): return "\(name(id)) has a phone call"
    case .application(.endCall(_, let id)): return "the phone call of \(name(id)) ended"
    case .socket(.manage(_, let id, let socket)):
      return "manage-socket \(name(id)) \(socket.number)"
    case .socket(.release(_, let id, let socket)):
      return "release-socket \(name(id)) \(socket.number)"
    case .socket(.lost(let id, _)): return "the daemon has lost sockets of \(name(id))"
    case .process(.spawnFailed(let id, let reason)):
      return "\(name(id)) could not be started: \(reason)"
    case .process(.leaderExited(let id, .exited(let code))): return "exit \(name(id)) \(code)"
    case .process(.leaderExited(let id, .signaled(let signal))):
      return "crash \(name(id)) \(signal)"
    case .process(.leaderExited(let id, .unknown)): return "\(name(id)) ended for an unknown reason"
    case .process(.tracerChecked(let id, isTraced: true)):
      return "a debugger traces \(name(id))"
    case .application, .process, .socket, .operation, .notification, .systemChanged, .session,
      .scheduler,
      .memory, .resources, .switcher, .location:
      return nil
    }
  }
}

import TaskSchedulerCore

/// The notifications of a scenario, and the last assigned number of a socket.
struct ScenarioStore {
  struct Name: Equatable {
    var application: Int
    var name: String
  }

  struct Row {
    var firesAt: Int64
    var repeats: RepeatInterval?
  }

  var socketLast: UInt64 = 0
  var rows: [NotificationID: Row] = [:]
  /// The names that the scenario gives to notifications.
  var names: [NotificationID: Name] = [:]
  /// The difference between the wall clock and the time since the start, in nanoseconds. A scenario
  /// starts at the beginning of 2027.
  var wallOffset: Int64 = 1_798_761_600_000_000_000
}

// The actions of a scenario that may resume an application.
extension ScenarioRunner {
  var wallClock: WallTime { WallTime(nanoseconds: Int64(now - Self.start) + store.wallOffset) }

  func takeServiceAction(_ action: Scenario.Action) {
    func key(_ index: Int) -> ApplicationKey { scenario.applications[index].key }
    switch action {
    case .keepAlive(let index, let interval): perform(index, .keepAlive(interval))
    case .handOver(let index, let socket): perform(index, .handOver(socket))
    case .takeBack(let index, let socket): perform(index, .takeBack(socket))
    case .arrive(let index, let socket, let conditions): arrive(index, socket, conditions)
    case .schedule(let index, let name, let delay, let repeats):
      let firesAt = WallTime(
        nanoseconds: wallClock.nanoseconds + Int64(Nanoseconds.of(delay)))
      let draft = NotificationDraft(
        content: NotificationContent(title: name),
        schedule: NotificationSchedule(date: "", timeZone: "UTC", repeats: repeats),
        firesAt: firesAt)
      let request = request(.notification(index, name: name))
      post(.notification(.schedule(request, key(index), draft)))
    case .cancel(let index, let name):
      post(.notification(.cancel(request(), key(index), id(of: name, index), stored: [])))
    case .choose(let index, let name):
      post(.notification(.chosen(id(of: name, index), key(index))))
    case .post(let change): post(.systemChanged(request(), change, for: nil))
    case .setClock(let step):
      let (seconds, attoseconds) = step.components
      store.wallOffset += seconds * Int64(Nanoseconds.second) + attoseconds / 1_000_000_000
      post(.scheduler(.clockRead(wallClock)))
    case .daemonStarts: post(.scheduler(.started))
    case .memoryPressure(let percent, let source): press(percent, source)
    case .warnMemory(let index): post(.memory(.warn(request(), index.map(key), owner: nil)))
    case .launch, .register, .adopt, .activate, .interrupt, .sendAway, .terminate, .begin, .end,
      .start, .stop, .exit, .debug, .machineStandby, .daemonDies, .set, .locate, .receiver,
      .monitor, .forget, .authorizeLocation:
      preconditionFailure("the action wakes no application: \(action)")
    }
  }

  /// Returns the newest notification with the given name, or the id 0 if there is none.
  private func id(of name: String, _ index: Int) -> NotificationID {
    let named = ScenarioStore.Name(application: index, name: name)
    return store.names.filter { $0.value == named }.keys.max() ?? NotificationID(0)
  }

  // MARK: Sockets

  /// Delivers data or a hang-up to a socket. Has no effect on a running application, which reads
  /// the data at once.
  private func arrive(_ index: Int, _ name: String, _ conditions: SocketConditions) {
    guard let socket = actors[index].sockets.last(where: { $0.name == name })?.id,
      actors[index].isStopped || actors[index].isStopping
    else { return }
    actors[index].unread.append((socket, conditions))
    reportReadySockets(index)
  }

  private func reportReadySockets(_ index: Int) {
    guard actors[index].isWatched, let id = actors[index].instance else { return }
    let ready = actors[index].unread.map { SocketReadiness($0.id, $0.conditions) }
    actors[index].unread = []
    if !ready.isEmpty { post(.socket(.ready(id, ready))) }
  }

  func carryOut(_ effect: SocketEffect) {
    switch effect {
    case .hold, .release: break
    case .watch(let id):
      guard let index = byInstance[id] else { return }
      actors[index].isWatched = true
      reportReadySockets(index)
    case .stopWatching(let id): if let index = byInstance[id] { actors[index].isWatched = false }
    }
  }

  func deliver(_ notice: Notice, to id: InstanceID) {
    guard let index = byInstance[id] else { return }
    note(index, .notice(notice))
    switch notice {
    case .socketsReady(let event, _), .remoteControl(let event, _),
      .audioInterruption(let event, _), .call(let event, _):
      plan(index, scenario.applications[index].handleDelay, .acknowledge(event))
    case .significantChange(let event, _), .region(let event, _, _):
      plan(index, scenario.applications[index].handleDelay, .acknowledge(event))
    case .systemChanges, .notificationFired, .notificationChosen, .memoryWarning, .location,
      .locationAuthorization:
      break
    }
  }

  // MARK: Notifications

  func carryOut(_ effect: NotificationEffect) {
    switch effect {
    case .store(let id, let transaction):
      store(transaction)
      post(.notification(.stored(id)))
    case .fire(let id, let key, _, let receiver):
      let index = scenario.applications.firstIndex { $0.key == key }
      if receiver == nil { note(index, .shown(id)) }
    case .findNext(let id, _): post(.notification(.nextFound(id, next(of: id))))
    }
  }

  private func store(_ transaction: NotificationTransaction) {
    switch transaction {
    case .schedule(let id, _, let draft):
      store.rows[id] = ScenarioStore.Row(
        firesAt: draft.firesAt?.nanoseconds ?? wallClock.nanoseconds,
        repeats: draft.schedule?.repeats)
    case .cancel(let ids, _): for id in ids { store.rows[id] = nil }
    case .setBadge, .fire: break
    }
  }

  /// Returns the next time at which a repeating notification fires; nil if the notification does
  /// not repeat.
  private func next(of id: NotificationID) -> WallTime? {
    guard let row = store.rows[id], let repeats = row.repeats else { return nil }
    let step = repeats.nanoseconds
    let passed = max(0, wallClock.nanoseconds - row.firesAt)
    let next = row.firesAt + (passed / step + 1) * step
    store.rows[id]?.firesAt = next
    return WallTime(nanoseconds: next)
  }
}

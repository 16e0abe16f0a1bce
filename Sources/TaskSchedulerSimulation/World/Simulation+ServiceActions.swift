import TaskSchedulerCore

// Actions that may resume applications, drawn from the seed: keep-alive handlers, sockets,
// notifications and system changes.
extension Simulation {
  var wallClock: WallTime { WallTime(nanoseconds: Int64(now) + wallOffset) }

  func wake(_ chance: inout SeededGenerator) {
    if chance.happens(faults[.clockIsSet]) { return setClock(&chance) }
    switch chance.below(100) {
    case 0..<20: setKeepAlive(&chance)
    case 20..<34: handleSocket(&chance)
    case 34..<56: dataArrives(&chance)
    case 56..<80: handleNotification(&chance)
    case 80..<86:
      if let shown = store.shown.last, isUp {
        post(.notification(.chosen(shown.id, shown.application)))
      }
    case 86..<91: useSwitcher(&chance)
    case _: changeSystem(&chance)
    }
  }

  private func setClock(_ chance: inout SeededGenerator) {
    let hours = Int64(chance.below(96)) - 48
    wallOffset += hours * 3600 * Int64(Nanoseconds.second)
    if isUp { post(.scheduler(.clockRead(wallClock))) }
  }

  /// Returns the leader of a running instance among the 12 newest processes; nil if four draws find
  /// none.
  private func runningLeader(_ chance: inout SeededGenerator) -> Int? {
    for _ in 0..<4 where !processes.isEmpty {
      let index = processes.count - 1 - chance.below(min(processes.count, 12))
      let process = processes[index]
      if process.isAlive, process.instance != nil, !process.isStopped { return index }
    }
    return nil
  }

  private func setKeepAlive(_ chance: inout SeededGenerator) {
    guard let index = runningLeader(&chance), let id = processes[index].instance else { return }
    let shortest = checkers.policy.keepAliveMinimum
    let interval: Duration? =
      switch chance.below(10) {
      case 0: nil
      case 1: shortest - .nanoseconds(1)
      case 2..<6: shortest
      case 6..<9: shortest + .milliseconds(chance.below(100_000))
      case _: .seconds(86_400 * 365 * 200)
      }
    send(.application(.setKeepAlive(request(index), id, interval: interval)))
  }

  private func handleSocket(_ chance: inout SeededGenerator) {
    guard let index = runningLeader(&chance), let id = processes[index].instance else { return }
    let held = processes[index].sockets
    if held.isEmpty || chance.happens(600) {
      socketLast += 1
      let socket = held.isEmpty || chance.happens(900) ? SocketID(socketLast) : chance.pick(held)
      send(.socket(.manage(request(index), id, socket)))
    } else if chance.happens(300) {
      // The application closes a socket, and the daemon sees the end of the connection.
      let socket = processes[index].sockets.removeLast()
      if isUp { post(.socket(.closed(id, [socket]))) }
    } else {
      let socket = chance.happens(800) ? chance.pick(held) : SocketID(.max)
      processes[index].sockets.removeAll { $0 == socket }
      send(.socket(.release(request(index), id, socket)))
    }
  }

  /// Makes data arrive on managed sockets, even during a suspension or while the daemon is down.
  private func dataArrives(_ chance: inout SeededGenerator) {
    let owners = sockets.owners
    guard !owners.isEmpty else { return }
    let id = chance.pick(owners)
    for socket in sockets.of(id) where chance.happens(600) {
      let conditions: SocketConditions = chance.pick([.data, .data, .urgentData, .hangUp, .error])
      sockets.arrive(conditions, on: socket, of: id)
    }
    reportReadySockets(of: id)
    guard let (index, process) = process(of: id), !process.isStopped else { return }
    schedule(after: chance.below(20 * Nanoseconds.millisecond), .reaction(index, .read))
  }

  /// Reports the ready sockets of an instance that the daemon watches.
  func reportReadySockets(of id: InstanceID) {
    guard isUp else { return }
    let ready = sockets.takeReady(of: id)
    if !ready.isEmpty { post(.socket(.ready(id, ready))) }
  }

  private func handleNotification(_ chance: inout SeededGenerator) {
    let index = runningLeader(&chance)
    let key = index.map { processes[$0].key } ?? chance.pick(configuration.keys)
    let known = index.map { processes[$0].notifications } ?? []
    switch chance.below(10) {
    case 0: cancel(index, key, nil)
    case 1, 2:
      let id = known.isEmpty || chance.happens(200) ? NotificationID(1 << 40) : chance.pick(known)
      cancel(index, key, id)
    case 3: send(.notification(.setBadge(request(index), key, chance.below(9))))
    case _:
      let unshown = store.unshownCount(of: key.owner)
      send(.notification(.schedule(request(index), key, draft(&chance), unshown: unshown)))
    }
  }

  private func cancel(_ index: Int?, _ key: ApplicationKey, _ id: NotificationID?) {
    send(.notification(.cancel(request(index), key, id, stored: store.ids(of: key, id))))
  }

  private func draft(_ chance: inout SeededGenerator) -> NotificationDraft {
    let content = NotificationContent(title: "time")
    if chance.happens(200) { return NotificationDraft(content: content) }
    let repeats = chance.pick([nil, nil, nil, .minute, .hour, .day] as [RepeatInterval?])
    let delay = Int64(chance.below(chance.pick([1, 60, 3000]) * Nanoseconds.second))
    let early = chance.happens(50) ? 10 * Int64(Nanoseconds.second) : 0
    return NotificationDraft(
      content: content,
      schedule: NotificationSchedule(
        date: "2026-11-21T18:00:00", timeZone: "UTC", repeats: repeats),
      firesAt: WallTime(nanoseconds: wallClock.nanoseconds + delay - early))
  }

  private func useSwitcher(_ chance: inout SeededGenerator) {
    if chance.happens(200) {
      let key = chance.pick(configuration.keys + [Workload.unknownKey])
      return send(.switcher(.remove(request(nil), key, byUser: chance.happens(500))))
    }
    guard let index = runningLeader(&chance), let id = processes[index].instance else { return }
    let request = request(index)
    let snapshot: Snapshot? =
      switch chance.below(10) {
      case 0: nil
      case 1: .sensitive
      case _: .picture(SnapshotID(request.number))
      }
    send(.switcher(.setSnapshot(request, id, snapshot)))
  }

  /// Reports the loss of the pictures, because no service manager kept them when the daemon died.
  func losePictures() {
    let pictures = pump.scheduler.pictures
    if !pictures.isEmpty { post(.switcher(.lost(pictures))) }
  }

  private func changeSystem(_ chance: inout SeededGenerator) {
    guard isUp else { return }
    let kinds: [SystemChangeKind] = [
      .timeZone, .clock, .day, .locale, .network, .powerSource, .custom("a"), .custom("b"),
    ]
    // One time in twenty, many changes come at once.
    for _ in 0..<(chance.happens(50) ? 40 : 1 + chance.below(3)) {
      let value = chance.pick([nil, "one", "other"])
      let owner = chance.happens(200) ? chance.pick(configuration.keys).owner : nil
      let change = SystemChange(kind: chance.pick(kinds), value: value)
      // A custom change always has a request, because its sender learns whether the scheduler
      // stores it.
      let isPosted = change.isNamed || chance.happens(300)
      post(.systemChanged(isPosted ? request(nil) : nil, change, for: owner))
    }
  }

  // MARK: Effects

  func carryOut(_ effect: SocketEffect) {
    switch effect {
    case .hold(let id, let socket): sockets.hold(socket, of: id)
    case .release(let id, let socket): sockets.release(socket, of: id)
    case .watch(let id):
      sockets.watch(id)
      reportReadySockets(of: id)
    case .stopWatching(let id): sockets.stopWatching(id)
    }
  }

  func deliver(_ notice: Notice, to id: InstanceID) {
    guard let (index, process) = process(of: id), process.isAlive, process.hasStream else { return }
    let event: CallbackID
    var chance: SeededGenerator
    let delay: UInt64
    switch notice {
    case .socketsReady(let id, _):
      event = id
      chance = draw(.reactions)
      delay = chance.below(50 * Nanoseconds.millisecond)
      schedule(after: delay, .reaction(index, .read))
    case .remoteControl(let id, _), .audioInterruption(let id, _), .call(let id, _):
      if case .audioInterruption(_, let change) = notice { reactToInterruption(change, index) }
      event = id
      chance = draw(.players)
      delay = chance.below(50 * Nanoseconds.millisecond)
    case .significantChange(let id, _), .region(let id, _, _):
      event = id
      chance = drawLocation()
      delay = chance.below(50 * Nanoseconds.millisecond)
    case .systemChanges, .notificationFired, .notificationChosen, .memoryWarning, .location,
      .locationAuthorization:
      return
    }
    if isSettling || chance.happens(600) {
      schedule(after: delay + 1, .reaction(index, .acknowledge(event)))
    }
  }

  /// Reports that the dead daemon's descriptors of managed sockets were lost.
  func loseSockets() {
    for id in sockets.owners where isUp {
      let lost = sockets.of(id)
      for socket in lost {
        sockets.release(socket, of: id)
        if let (_, process) = process(of: id) { process.sockets.removeAll { $0 == socket } }
      }
      post(.socket(.lost(id, lost)))
    }
  }

  /// Ends work that would repeat forever: clears keep-alive handlers and notifications, and stops
  /// location updates. With `isLast`, it instead removes the manifests, which cause relaunches, and
  /// the sources of locations.
  func endRepeatingWork(isLast: Bool) {
    endRepeatingLocation(isLast: isLast)
    if isLast { return post(.scheduler(.manifestsChanged([]))) }
    for (index, process) in processes.enumerated() {
      guard process.isAlive, let id = process.instance else { continue }
      post(.application(.setKeepAlive(request(index), id, interval: nil)))
    }
    for key in configuration.keys + [Workload.unknownKey] {
      post(.notification(.cancel(request(nil), key, nil, stored: store.ids(of: key, nil))))
    }
  }
}

import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// The takeover of the processes, connections and outstanding calls of a previous daemon.
struct Takeover {
  let subsystems: Subsystems
  let server: Server
  let pump: Pump
  let eventLog: EventLog
  /// The event log of the previous daemon; nil if there is no usable event log.
  let found: FoundEventLog?
  let inherited: DescriptorStore.Inherited
  let socketPath: String
  /// The instant at which the daemon began to read the event log.
  let startedAt: Instant
  let log: Log

  /// The result of a takeover.
  private struct Outcome {
    var connections = 0
    var closed = 0
    /// Instances that the daemon could not take over, mostly because their leaders ended while no
    /// daemon ran.
    var lost: [InstanceID] = []
    /// Managed sockets whose watches are lost.
    var lostSockets: [(InstanceID, [SocketID])] = []
    /// Pictures of the application switcher that the daemon did not inherit.
    var lostPictures: [SnapshotID] = []
    /// The remaining effects of the last event, which the previous daemon did not carry out.
    var effects: [Effect] = []
  }

  private var processes: ProcessController { subsystems.processes }

  /// Takes over the previous daemon's applications, and releases the applications that it cannot
  /// take over.
  ///
  /// - Returns: Whether the scheduler starts with an empty state, because the daemon found no
  ///   usable event log, or the previous daemon had released all applications.
  func run() throws(SystemError) -> Bool {
    var isNew = true
    if let replay = found?.replay {
      isNew = recover(replay)
    } else {
      let outcome = inherited.release(subsystems.store, in: processes.proc)
      for failure in outcome.failures { log.write(.error, "cannot resume \(failure)") }
      restoreLaunched()
    }
    try releaseLeftovers()
    return isNew
  }

  /// Records the programs that a previous daemon launched, as their environment shows. The event
  /// log is missing or damaged, so it may not name them.
  private func restoreLaunched() {
    let markers = EnvironmentMarkers(socket: socketPath)
    subsystems.launches.restoreLeftRunning(
      EarlierLaunches(markers: markers, proc: processes.proc).leaders())
  }

  /// Continues with the state of the previous daemon.
  ///
  /// - Returns: Whether that daemon had released all applications.
  private func recover(_ replay: Replay) -> Bool {
    let outcome = takeOver(replay)
    subsystems.notifications.reportLost(of: pump.scheduler.waitingNotifications)
    // The previous daemon stopped, and systemd did not restart it. Since then, all processes have
    // run without management.
    if replay.progress.isClean, inherited.isEmpty {
      pump.finish(outcome.effects, of: replay.lastEvent)
      pump.post(.scheduler(.stop))
      return true
    }
    pump.resume(outcome.effects, of: replay.lastEvent)
    for id in outcome.lost { pump.post(.process(.leaderExited(id, .unknown))) }
    for id in pump.scheduler.running where !subsystems.streams.isOpen(id) {
      pump.post(.application(.streamClosed(id)))
    }
    for (id, lost) in outcome.lostSockets { pump.post(.socket(.lost(id, lost))) }
    if !outcome.lostPictures.isEmpty { pump.post(.switcher(.lost(outcome.lostPictures))) }
    subsystems.agents.recovered(
      reporting: pump.scheduler.reportingUsers, audio: pump.scheduler.audioReportingUsers,
      locations: pump.scheduler.locationStatus.geoClueUsers)
    report(outcome, lastAlive: replay.lastAlive)
    return false
  }

  private func report(_ outcome: Outcome, lastAlive: Instant) {
    let count = pump.scheduler.running.count
    if count == 0, outcome.connections + outcome.closed == 0 { return }
    let away = TimeSpan.short(lastAlive.duration(to: pump.now))
    let time = TimeSpan.short(startedAt.duration(to: pump.now))
    var message = "took over \(Self.quantity(count, "application")) and "
      + "\(Self.quantity(outcome.connections, "connection")) within \(time); the last event was "
      + "\(away) ago"
    if outcome.closed > 0 {
      message += "; closed \(Self.quantity(outcome.closed, "connection")) that may have missed "
        + "messages"
    }
    log.write(.notice, message, id: .recovered)
  }

  private static func quantity(_ count: Int, _ noun: String) -> String {
    count == 1 ? "1 \(noun)" : "\(count) \(noun)s"
  }

  /// Releases the processes that a previous daemon left behind. A failure to release one group does
  /// not keep the daemon from starting.
  private func releaseLeftovers() throws(SystemError) {
    let held = Set(processes.held.values.compactMap(\.details.group))
    guard
      let (inUse, failures) = try subsystems.launcher.groups?.releaseLeftovers(
        in: processes.proc, held: held.union(subsystems.launcher.starting),
        relaunched: Set(pump.scheduler.launching))
    else { return }
    if !inUse.isEmpty {
      let names = inUse.joined(separator: ", ")
      log.write(.notice, "programs that an earlier daemon launched run unmanaged: \(names)")
    }
    for failure in failures {
      log.write(
        .warning, "cannot release the programs that an earlier daemon launched: \(failure)")
    }
  }

  private func takeOver(_ replay: Replay) -> Outcome {
    var outcome = Outcome()
    let held = replay.daemonState.instances
    outcome.lost = processes.takeOver(held, leaders: inherited.leaders)
    subsystems.launches.restoreLeftRunning(replay.daemonState.leftRunning)
    let unnamed = inherited.leaders.filter { held[$0.key] == nil }
    if let unclear = found?.unclear {
      // A process that already belongs to an instance is not managed twice: ``Launches`` skips it.
      restoreLaunched()
      let found = processes.claimStopped(
        unclear, leaders: unnamed, EnvironmentMarkers(socket: socketPath))
      for name in found.resumed {
        log.write(.warning, "resumed \(name), which belongs to no application")
      }
      for failure in found.failures { log.write(.error, "cannot resume \(failure)") }
    } else {
      // The previous daemon died while it began to manage these leaders. This daemon carries out
      // the same effects again, and thereby stores the pidfds again.
      for (id, number) in unnamed {
        FileDescriptor(taking: number).close()
        subsystems.store.removeLeader(of: id)
      }
    }
    for details in replay.daemonState.unmanagedLeaders.values {
      subsystems.launches.restore(details)
    }
    let daemonState = replay.daemonState.connections
    let call = InterruptedCall(replay)
    for number in inherited.connections {
      do throws(SystemError) {
        let cookie = try UnixSocket.cookie(number)
        let held = daemonState[cookie]
        if try call.leavesUnknown(cookie, number, eventLog) || held?.isUnsaved == true {
          outcome.closed += 1
          try UnixSocket.shutdown(number)
          FileDescriptor(taking: number).close()
        } else if let connection = try server.restore(number, cookie: cookie, held: held) {
          outcome.connections += 1
          if let held { restore(connection, held) }
        }
      } catch {
        log.write(.warning, "cannot take over a connection: \(error)")
      }
    }
    outcome.lostSockets = restoreSockets(replay.scheduler, inherited.sockets)
    outcome.lostPictures = restorePictures(replay.scheduler)
    outcome.effects = call.effectsLeft(eventLog)
    eventLog.setClean(false)
    return outcome
  }

  /// Restores the watches of managed sockets.
  ///
  /// - Returns: The managed sockets that the daemon could not restore, by instance.
  private func restoreSockets(
    _ scheduler: Scheduler, _ inherited: [InstanceID: [UInt64: Int32]]
  ) -> [(InstanceID, [SocketID])] {
    var inherited = inherited
    var lost: [(InstanceID, [SocketID])] = []
    for id in scheduler.running {
      var gone: [SocketID] = []
      for socket in scheduler.sockets(of: id) {
        let number = inherited[id]?.removeValue(forKey: socket.number)
        let watch = number.map { FileDescriptor(taking: $0) }
        do {
          if let watch, try subsystems.sockets.restore(watch, as: socket.number, of: id) {
            continue
          }
        } catch {
          log.write(.warning, "cannot take over a managed socket: \(error)")
        }
        gone.append(socket)
      }
      if !gone.isEmpty { lost.append((id, gone)) }
    }
    for (id, watches) in inherited {
      for (socket, number) in watches {
        FileDescriptor(taking: number).close()
        subsystems.store.remove(socket: socket, of: id)
      }
    }
    return lost
  }

  /// Restores the pictures of the application switcher, and deletes those that no application has.
  ///
  /// - Returns: The pictures that the daemon did not inherit.
  private func restorePictures(_ scheduler: Scheduler) -> [SnapshotID] {
    let wanted = scheduler.pictures
    for (id, number) in inherited.pictures {
      subsystems.pictures.restore(FileDescriptor(taking: number), as: id)
    }
    for id in Set(inherited.pictures.keys).subtracting(wanted) { subsystems.pictures.drop(id) }
    return wanted.filter { inherited.pictures[$0] == nil }
  }

  private func restore(_ connection: Connection, _ held: DaemonState.Connection) {
    if let id = held.stream, processes[id] != nil { subsystems.streams.restore(id, connection) }
    if let monitor = held.monitor { subsystems.monitors.restore(connection, monitor) }
    if held.isAgent { subsystems.agents.restore(connection) }
    if let waiting = held.waiting { subsystems.requests.restore(waiting, connection) }
  }
}

import CSystemd
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

/// Finds the event log of an earlier daemon in the event log's directory.
struct EventLogFinder {
  /// How many daemons in succession may have died before they served. With more, a record of the
  /// event log is the likely cause, and no process may stay stopped because of it.
  static let attemptsMax: UInt32 = 16

  let folder: EventLogDirectory
  let boot: BootID
  /// Processes with this path in their environment belong to this daemon.
  let socketPath: String
  let proc: ProcFS
  let log: Log

  /// Returns the newest usable event log. An unusable one is renamed, so that it does not keep the
  /// daemon from starting. Without a usable one, resumes the processes that are stopped.
  ///
  /// - Throws: EMFILE, ENFILE, ENOMEM, EIO: another attempt may succeed.
  func find(at now: Instant) throws(SystemError) -> FoundEventLog? {
    var unclear: LeftBehind?
    for number in folder.numbers {
      let mapping: FileMapping
      do throws(SystemError) {
        mapping = try FileMapping.open(path: folder.path(of: number))
      } catch {
        switch error.errno {
        case EMFILE, ENFILE, ENOMEM, EIO: throw error
        case _:
          let path = folder.path(of: number)
          let bytes = try? BoundedFile.beginning(of: path, bytesMax: LeftBehind.bytesMax)
          (bytes ?? []).withUnsafeBytes {
            refuse(number, $0, "it cannot be read: \(error)", &unclear)
          }
        }
        continue
      }
      let bytes = UnsafeRawBufferPointer(mapping.bytes)
      do throws(EventLogRefusal) {
        let replay = try Replay(
          bytes, boot: boot, now: now, readAhead: RecordsAhead.begin)
        if let problem = problem(with: replay.progress) {
          refuse(number, bytes, problem, &unclear)
          continue
        }
        if let damage = replay.damage {
          log.write(
            .warning, "using \(folder.path(of: number)) up to its last intact record: \(damage)",
            id: .eventLogRefused)
          note(bytes, &unclear)
        }
        return FoundEventLog(number: number, mapping: mapping, replay: replay, unclear: unclear)
      } catch {
        refuse(number, bytes, "\(error)", &unclear)
      }
    }
    letRun(unclear)
    return nil
  }

  private func problem(with progress: EventLogProgress) -> String? {
    if progress.isBehind {
      return "the runtime directory was full, and the last actions of the daemon are missing"
    }
    if progress.attempts >= Self.attemptsMax {
      return "\(progress.attempts) daemons in succession died before they served"
    }
    return nil
  }

  /// Notes the stopped processes that an event log names that is not used, or not to its end.
  private func note(_ bytes: UnsafeRawBufferPointer, _ unclear: inout LeftBehind?) {
    unclear = unclear ?? LeftBehind()
    if let left = try? LeftBehind(bytes, boot: boot) { unclear?.add(left) }
  }

  private func refuse(
    _ number: UInt64, _ bytes: UnsafeRawBufferPointer, _ problem: String,
    _ unclear: inout LeftBehind?
  ) {
    note(bytes, &unclear)
    let place = (try? folder.setAside(number)) ?? folder.path(of: number)
    log.write(
      .error, "cannot use the event log \(folder.path(of: number)): \(problem). It was renamed to "
        + "\(place)", id: .eventLogRefused)
  }

  /// Resumes the processes that event logs name, and those that have this daemon in their
  /// environment. No daemon manages them any more.
  private func letRun(_ unclear: LeftBehind?) {
    var outcome = (unclear ?? LeftBehind()).letRun(in: proc)
    outcome.add(ProcessRelease.letRun(ProcessMarks(socket: socketPath), in: proc))
    if unclear != nil || !outcome.letRun.isEmpty {
      log.write(
        .warning, "found no usable event log; resumed \(outcome.letRun.count) stopped processes or "
          + "control groups. Applications register again", id: .eventLogRefused)
    }
    for failure in outcome.failures { log.write(.error, "cannot resume \(failure)") }
  }
}

extension LeftBehind {
  /// Resumes the stopped processes, and restores the priorities that were lowered.
  ///
  /// - Parameters:
  ///   - held: processes that the daemon manages again. They stay as they are.
  ///   - heldGroups: the paths of their control groups.
  func letRun(
    except held: Set<ProcessIdentity> = [], heldGroups: Set<String> = [], in proc: ProcFS
  ) -> ProcessRelease.Outcome {
    let strangers = lowered.map { items in
      items.compactMap { LoweredPriority($0) }.filter { !held.contains($0.thread) }
    }
    let priorities = PriorityRelease.all(strangers, in: proc)
    var outcome = ProcessRelease.letRun(
      stopped.filter { !$0.wasStopped }.map { ProcessIdentity($0.process) }
        .filter { !held.contains($0) },
      groups: groups.filter { !heldGroups.contains($0) }.map { ControlGroup(path: $0) }, in: proc)
    outcome.failures += priorities.failures
    return outcome
  }
}

extension DescriptorStore.Inherited {
  /// Releases the inherited descriptors, because no event log says what they were. Clients find
  /// their connections closed and register again. Resumes stopped descendants of the leaders.
  func letGo(_ store: DescriptorStore, in proc: ProcFS) -> ProcessRelease.Outcome {
    for number in connections {
      // systemd holds a copy for a while, which must not keep the connection open.
      try? UnixSocket.shutdown(number)
      FileDescriptor(taking: number).close()
    }
    for (id, watches) in sockets {
      for (socket, number) in watches {
        FileDescriptor(taking: number).close()
        store.remove(socket: socket, of: id)
      }
    }
    var outcome = ProcessRelease.Outcome()
    for (id, number) in leaders {
      do throws(SystemError) {
        let leader = try PIDFD(adopting: FileDescriptor(taking: number))
        if let identity = try leader.identity(in: proc) {
          let stopped = try proc.descendants(of: [identity]).filter { $0.state == .stopped }
          outcome.add(ProcessRelease.letRun(stopped.map(\.identity), groups: [], in: proc))
        }
      } catch {
        if error.errno != noSuchProcess { outcome.failures.append("instance \(id): \(error)") }
      }
      store.removeLeader(of: id)
    }
    return outcome
  }
}

/// Takes over the processes, connections and outstanding calls of an earlier daemon.
struct Takeover {
  let processes: ProcessController
  let server: Server
  let requests: Requests
  let streams: EventStreams
  let monitors: Monitors
  let sockets: ManagedSockets
  let store: DescriptorStore
  let runner: EffectRunner
  let eventLog: EventLog
  /// The processes that may be stopped although the intact part of the event log does not say so.
  let unclear: LeftBehind?
  let socketPath: String
  let log: Log

  /// The result of a takeover.
  struct Outcome {
    var connections = 0
    var closed = 0
    /// Instances whose leaders terminated while no daemon ran.
    var lost: [InstanceID] = []
    /// Managed sockets whose watches are lost.
    var lostSockets: [(InstanceID, [SocketID])] = []
    /// The effects of the last event that the earlier daemon did not carry out.
    var effects: [Effect] = []
  }

  func run(_ replay: Replay, _ inherited: DescriptorStore.Inherited) -> Outcome {
    var outcome = Outcome()
    outcome.lost = processes.takeOver(replay.holdings.instances, leaders: inherited.leaders)
    runner.restoreRunningOn(replay.holdings.runningOn)
    if let unclear {
      let marks = ProcessMarks(socket: socketPath)
      // A process that belongs to an instance already is not added.
      runner.restoreRunningOn(LaunchedBefore(marks: marks, proc: processes.proc).leaders())
      let found = processes.claimStopped(unclear, marks)
      for name in found.letRun {
        log.write(.warning, "resumed \(name), which belongs to no application")
      }
      for failure in found.failures { log.write(.error, "cannot resume \(failure)") }
    }
    for arrival in replay.holdings.arrivals.values { runner.restore(arrival) }
    var holdings = replay.holdings.connections
    let call = InterruptedCall(replay)
    if let waiting = call.waiting { holdings[call.connection, default: .init()].waiting = waiting }
    for number in inherited.connections {
      do throws(SystemError) {
        let cookie = try UnixSocket.cookie(number)
        let held = holdings[cookie]
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
    outcome.effects = call.effectsLeft(eventLog)
    eventLog.setClean(false)
    return outcome
  }

  /// - Returns: the managed sockets that the daemon could not restore, by instance.
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
          if let watch, try sockets.restore(watch, as: socket.number, of: id) { continue }
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
        store.remove(socket: socket, of: id)
      }
    }
    return lost
  }

  private func restore(_ connection: Connection, _ held: Holdings.Connection) {
    if let id = held.stream, processes[id] != nil { streams.restore(id, connection) }
    if let monitor = held.monitor { monitors.restore(connection, monitor) }
    if let waiting = held.waiting, let method = Requests.Method(rawValue: waiting.method) {
      requests.restore(
        waiting.request, connection, method, application: waiting.application)
    }
  }
}

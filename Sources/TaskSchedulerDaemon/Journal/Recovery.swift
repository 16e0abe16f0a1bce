import CSystemd
import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerJournal

/// Finds what an earlier daemon has left in the journal's folder.
struct JournalFinder {
  /// How often in succession a daemon may have died before it served: then what kills it is
  /// likely in the journal, and nobody may stay stopped for it.
  static let attemptsMax: UInt32 = 16

  let folder: JournalFolder
  let boot: BootID
  let proc: ProcFS
  let log: Log

  /// The newest journal, if it can be gone on from. Else whoever stands still is let run, and it
  /// is set aside: nothing in it keeps the daemon from starting.
  ///
  /// - Throws: EMFILE, ENFILE, ENOMEM, EIO: another try may read it.
  func find(at now: Instant) throws(SystemError) -> FoundJournal? {
    for number in folder.numbers {
      let mapping: FileMapping
      do throws(SystemError) {
        mapping = try FileMapping.open(path: folder.path(of: number))
      } catch {
        switch error.errno {
        case EMFILE, ENFILE, ENOMEM, EIO: throw error
        case _: refuse(number, nil, "it cannot be read: \(error)")
        }
        continue
      }
      let bytes = UnsafeRawBufferPointer(mapping.bytes)
      do throws(JournalRefusal) {
        let replay = try Replay(
          bytes, boot: boot, now: now, readAhead: RecordsAhead.begin)
        if let problem = problem(with: replay.progress) {
          refuse(number, bytes, problem)
          continue
        }
        if let damage = replay.damage {
          log.write(
            .warning, "\(folder.path(of: number)) is used up to its last whole record: \(damage)",
            id: .journalRefused)
        }
        return FoundJournal(number: number, mapping: mapping, replay: replay)
      } catch {
        refuse(number, bytes, "\(error)")
      }
    }
    return nil
  }

  private func problem(with progress: JournalProgress) -> String? {
    if progress.isBehind {
      return "the runtime directory was full when the daemon died: what it did last is not in it"
    }
    if progress.attempts >= Self.attemptsMax {
      return "\(progress.attempts) daemons in succession died before they served"
    }
    return nil
  }

  private func refuse(_ number: UInt64, _ bytes: UnsafeRawBufferPointer?, _ problem: String) {
    var outcome = ProcessRelease.Outcome()
    if let bytes, let left = try? LeftBehind(bytes, boot: boot) {
      outcome = ProcessRelease.letRun(
        left.stopped.filter { !$0.wasStopped }.map { ProcessIdentity($0.process) },
        groups: left.groups.map { ControlGroup(path: $0) }, in: proc)
      outcome.failures += PriorityRelease.all(
        left.lowered.map { $0.compactMap { LoweredPriority($0) } }, in: proc
      ).failures
    }
    let marked = ProcessRelease.letRunMarked(in: proc)
    outcome.letRun += marked.letRun
    outcome.failures += marked.failures
    let place = (try? folder.setAside(number)) ?? folder.path(of: number)
    log.write(
      .error, "the journal \(folder.path(of: number)) is not gone on from: \(problem). "
        + "\(outcome.letRun.count) stopped processes or groups were let run; it lies "
        + "at \(place) now, and applications register anew", id: .journalRefused)
    for failure in outcome.failures { log.write(.error, "not let run: \(failure)") }
  }
}

/// Takes over what an earlier daemon held: processes, connections, calls that wait.
struct Takeover {
  let processes: ProcessController
  let server: Server
  let requests: Requests
  let streams: EventStreams
  let monitors: Monitors
  let sockets: ManagedSockets
  let store: DescriptorStore
  let runner: EffectRunner
  let journal: Journal
  let log: Log

  /// What came of it.
  struct Outcome {
    var connections = 0
    var closed = 0
    /// Instances whose leaders have ended unseen.
    var lost: [InstanceID] = []
    /// Managed sockets whose watches are lost.
    var lostSockets: [(InstanceID, [SocketID])] = []
    /// The effects of the last event that are to be carried out.
    var effects: [Effect] = []
  }

  func run(_ replay: Replay, _ inherited: DescriptorStore.Inherited) -> Outcome {
    var outcome = Outcome()
    outcome.lost = processes.takeOver(replay.holdings.instances, leaders: inherited.leaders)
    if replay.damage != nil {
      let found = processes.claimStopped()
      for name in found.letRun { log.write(.warning, "let run, as nobody's: \(name)") }
      for failure in found.failures { log.write(.error, "not let run: \(failure)") }
    }
    for arrival in replay.holdings.arrivals.values { runner.restore(arrival) }
    runner.restoreRunningOn(replay.holdings.runningOn ?? [:])
    var holdings = replay.holdings.connections
    let call = InterruptedCall(replay)
    if let waiting = call.waiting { holdings[call.connection, default: .init()].waiting = waiting }
    for number in inherited.connections {
      do throws(SystemError) {
        let cookie = try UnixSocket.cookie(number)
        let held = holdings[cookie]
        if try call.leavesUnknown(cookie, number, journal) || held?.isUnsaved == true {
          outcome.closed += 1
          try UnixSocket.shutdown(number)
          FileDescriptor(taking: number).close()
        } else if let connection = try server.restore(number, cookie: cookie, held: held) {
          outcome.connections += 1
          if let held { restore(connection, held) }
        }
      } catch {
        log.write(.warning, "a connection could not be taken over: \(error)")
      }
    }
    outcome.lostSockets = restoreSockets(replay.scheduler, inherited.sockets)
    outcome.effects = call.effectsLeft(journal)
    journal.setClean(false)
    return outcome
  }

  /// - Returns: the managed sockets that nobody watches any more, by instance.
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
          log.write(.warning, "a managed socket could not be taken over: \(error)")
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

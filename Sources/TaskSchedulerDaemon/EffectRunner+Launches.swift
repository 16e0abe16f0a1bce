import Glibc
import LinuxSystem
import TaskSchedulerCore
import TaskSchedulerEventLog

// How processes come to be held, so that the next daemon finds each whenever this one dies, and
// starts none a second time.
extension EffectRunner {
  // MARK: Whom the policy is about to be told of

  /// To be called before the event that tells the policy of this leader.
  @discardableResult
  func expect(_ arrival: Arrival) -> Leader {
    let leader = Leader(arrival.process.identity)
    arrivals[leader] = arrival
    eventLog.note(.arrival(arrival.held))
    return leader
  }

  /// An earlier daemon expected this leader.
  func restore(_ arrival: Holdings.Arrival) {
    do throws(SystemError) {
      let identity = ProcessIdentity(arrival.leader)
      guard let process = try ProcessHandle(identity, in: processes.proc) else { return }
      arrivals[arrival.leader] = Arrival(
        process: process, uid: arrival.uid, origin: .init(arrival), launch: arrival.launch)
    } catch {
      log.write(.warning, "cannot take over process \(arrival.leader.pid): \(error)")
    }
  }

  /// The policy has answered all: what it did not take is let go.
  func forgetArrivals() {
    if !arrivals.isEmpty { arrivals = [:] }
    if !launched.isEmpty {
      launching.subtract(launched)
      launched = []
    }
  }

  // MARK: Launches

  /// Starts the program of a launch, unless it was started already: by this daemon, which is asked
  /// once more after an absence, or by one before it.
  func spawn(
    _ id: InstanceID, _ key: ApplicationKey, _ reason: TaskSchedulerCore.LaunchReason
  ) {
    guard launching.insert(id).inserted else { return }
    if let leader = started(for: id) ?? takeBack(key) {
      return finish(id, .spawned(id, leader))
    }
    guard let manifest = manifests[key.id] else {
      return finish(id, .spawnFailed(id, reason: "its manifest was removed"))
    }
    let willRun: (Launcher.Launched) -> Void = { [unowned self] in
      expect(Arrival(process: $0.process, uid: $0.uid, origin: $0.origin, launch: id))
    }
    launcher.launch(manifest, as: id, reason: reason, willRun: willRun) {
      [unowned self] result in
      switch result {
      case .success(let launched):
        let leader = Leader(launched.process.identity)
        if arrivals[leader] == nil {
          expect(Arrival(process: launched.process, uid: launched.uid, origin: launched.origin))
        }
        finish(id, .spawned(id, leader))
      case .failure(let failure):
        finish(id, .spawnFailed(id, reason: failure.reason))
      }
    }
  }

  private func finish(_ id: InstanceID, _ outcome: Event) {
    launched.insert(id)
    post(outcome)
  }

  /// The process that an earlier daemon started for a launch, if its program runs.
  private func started(for id: InstanceID) -> Leader? {
    guard let (leader, arrival) = arrivals.first(where: { $0.value.launch == id }) else {
      return nil
    }
    let marker = try? processes.proc.environmentValue(leader.pid, of: Membership.markerName)
    if let marker, marker == arrival.origin.marker { return leader }
    // Held when that daemon died, and perhaps let go in the same instant: it is not to run beside
    // the one that is started now.
    _ = try? arrival.process.pidfd.send(signal: SIGKILL)
    arrivals[leader] = nil
    return nil
  }

  // MARK: What runs on

  /// The scheduler stops, and lets go of these.
  func keepRunningOn(_ held: [InstanceID: Holdings.Instance]) {
    for instance in held.values where instance.release == nil {
      runningOn[instance.arrival.leader] = instance
    }
  }

  /// What of it still does, of all that an earlier daemon has let go.
  func restoreRunningOn(_ left: [Leader: Holdings.Instance]) {
    for (leader, instance) in left {
      let stat = (try? processes.proc.stat(leader.pid)) ?? nil
      guard let stat, stat.identity == ProcessIdentity(leader), !stat.state.hasEnded else {
        continue
      }
      runningOn[leader] = instance
    }
  }

  /// The processes that an earlier daemon has let go and that run on, by their applications.
  func unmanagedProcesses() -> [ApplicationKey: Leader] {
    var processes: [ApplicationKey: Leader] = [:]
    for (leader, instance) in runningOn {
      guard let id = ApplicationID(instance.application) else { continue }
      let key = ApplicationKey(id, owner: UserID(instance.arrival.uid))
      if let other = processes[key], other.startTime <= leader.startTime { continue }
      let stat = (try? self.processes.proc.stat(leader.pid)) ?? nil
      guard let stat, stat.identity == ProcessIdentity(leader), !stat.state.hasEnded else {
        continue
      }
      processes[key] = leader
    }
    return processes
  }

  /// The process of an application that an earlier daemon has let go, if it runs on and is
  /// nobody's: there is at most one running instance of an application.
  private func takeBack(_ key: ApplicationKey) -> Leader? {
    let left = runningOn.values.filter {
      $0.application == key.id.name && $0.arrival.uid == key.owner.uid
    }
    for instance in left.sorted(by: { $0.arrival.leader.startTime < $1.arrival.leader.startTime }) {
      let leader = instance.arrival.leader
      runningOn[leader] = nil
      do throws(SystemError) {
        let identity = ProcessIdentity(leader)
        guard let process = try ProcessHandle(identity, in: processes.proc),
          try !process.pidfd.hasEnded(),
          try processes.membership.instance(of: identity, uid: instance.arrival.uid) == nil
        else { continue }
        log.write(
          .notice, "\(key.id.name): managing process \(leader.pid) again, which an earlier daemon "
            + "released")
        return expect(
          Arrival(
            process: process, uid: instance.arrival.uid, origin: .init(instance.arrival)))
      } catch {
        log.write(.warning, "cannot manage process \(leader.pid) again: \(error)")
      }
    }
    return nil
  }
}

extension EffectRunner.Arrival {
  /// As the event log has it.
  var held: Holdings.Arrival {
    origin.arrival(of: process.identity, uid: uid, launch: launch)
  }
}

import LinuxSystem
import TaskSchedulerCore

// Examines the processes of an instance, in steps.

extension ProcessController {
  /// Calls `member` with each process of the instance that a ``ProcessTreeWalk`` finds. Then calls
  /// `end` with the error, if any.
  ///
  /// - Parameter atOnce: Whether to visit the first processes before this call returns.
  func visit(
    _ instance: InstanceProcesses, _ rank: ProcessWorkQueue.Rank = .first, atOnce: Bool = false,
    member: @escaping (ProcessStat) throws(SystemError) -> Void,
    end: @escaping (SystemError?) -> Void
  ) -> ProcessWorkQueue.Work {
    var walk = ProcessTreeWalk(instance, membership)
    return steps.begin(rank, user: instance.uid, atOnce: atOnce) {
      do throws(SystemError) {
        switch try walk.next() {
        case .member(let stat): try member(stat)
        case .nothing: break
        case .end:
          end(nil)
          return false
        }
        return true
      } catch {
        end(error)
        return false
      }
    }
  }

  /// Determines whether a debugger outside the instance traces any of its processes.
  func checkTracer(_ id: InstanceID, answer: @escaping (Bool) -> Void) {
    guard let instance = instances[id] else { return answer(false) }
    _ = lookForTracers(instance) { [weak self] result in
      switch result {
      case .success(let found): answer(found.isTraced)
      case .failure(let error):
        self?.report(
          .process(.signalFailed(id, reason: "cannot tell whether it is traced: \(error)")))
        answer(false)
      }
    }
  }

  /// Searches for a tracer. A process of the instance itself does not count as a tracer (contract
  /// §3). Otherwise an application that runs under its own `strace` would escape every limit.
  ///
  /// - Parameter answer: Called with the result and the instance's processes.
  func lookForTracers(
    _ instance: InstanceProcesses, _ rank: ProcessWorkQueue.Rank = .first,
    answer: @escaping (Result<(members: [ProcessStat], isTraced: Bool), SystemError>) -> Void
  ) -> ProcessWorkQueue.Work {
    var walk = ThreadWalk(ProcessTreeWalk(instance, membership), in: proc)
    var members: [ProcessStat] = []
    var tracers: Set<Int32> = []
    return steps.begin(rank, user: instance.uid, atOnce: true) { [self] in
      do throws(SystemError) {
        switch try walk.next() {
        case .thread(let thread, let stat):
          if members.last?.pid != stat.pid { members.append(stat) }
          if let tracer = try proc.tracer(of: thread, in: stat.pid) { tracers.insert(tracer) }
        case .nothing: break
        case .end:
          answer(.success((members, try isAnyOutside(tracers, members, instance))))
          return false
        }
        return true
      } catch {
        answer(.failure(error))
        return false
      }
    }
  }

  private func isAnyOutside(
    _ tracers: Set<Int32>, _ members: [ProcessStat], _ instance: InstanceProcesses
  ) throws(SystemError) -> Bool {
    let pids = tracers.isEmpty ? [] : Set(members.map(\.pid))
    for tracer in tracers where !pids.contains(tracer) {
      guard let identity = try proc.identity(tracer), let details = try proc.details(tracer)
      else { continue }
      let owner = try membership.instance(of: identity, uid: details.uids.real)
      if owner !== instance { return true }
    }
    return false
  }
}

import Glibc
import LinuxSystem
import TaskSchedulerCore

/// Kills the processes of one instance: sends SIGKILL to every known process, and repeats this
/// until a sweep finds no further process.
///
/// The daemon stops all known processes before it kills the first one, so that no process escapes
/// by forking. A sweep over all processes of the machine also finds descendants whose parents have
/// ended. Each signal goes through the pidfd of a `ProcessHandle`, so it never reaches a process
/// that reuses the pid (contract.md#never-wrong-process).
final class Killing {
  /// The maximum number of walks over the process tree before the kill begins. Without a maximum,
  /// the kill would never begin for a tree that grows faster than the daemon stops processes.
  private static let walksMax = 16
  /// The number of processes to kill in a step.
  private static let killsAtOnce = 16

  private enum Phase {
    case stopping(ProcessTreeWalk)
    /// Kills the leader (index 0) and then the stopped processes; the value is the next index.
    case killing(Int)
    case looking
    case over
  }

  private unowned let instance: InstanceProcesses
  private let membership: InstanceMembership
  private let processScanner: ProcessScanner
  private let steps: ProcessWorkQueue
  /// The deadline, in nanoseconds since boot. If new processes still appear at the deadline, the
  /// daemon gives up.
  private let limit: UInt64
  private let timeout: Duration
  private var work: ProcessWorkQueue.Work?
  private var phase = Phase.over
  private var walks = 0
  private var foundNew = false
  /// Whether the last sweep was complete, and whether the daemon has stopped a process since.
  private var wasWhole = false
  private var foundSinceCheck = false
  /// The first failure to stop or kill a process since the last sweep.
  private var failure: SystemError?
  /// Called once, with the failure, if any.
  private let finish: (String?) -> Void

  init(
    _ instance: InstanceProcesses, membership: InstanceMembership, processScanner: ProcessScanner,
    steps: ProcessWorkQueue,
    timeout: Duration, finish: @escaping (String?) -> Void
  ) {
    self.instance = instance
    self.membership = membership
    self.processScanner = processScanner
    self.steps = steps
    self.timeout = timeout
    self.finish = finish
    limit = BootClock.after(timeout)
  }

  deinit { work?.cancel() }

  /// Begins the kill. The owner calls this function once, after it has stored this object. If the
  /// instance has few processes, the daemon usually kills them before this call returns.
  func begin() {
    begin(.stopping(ProcessTreeWalk(instance, membership)), atOnce: true)
  }

  private func begin(_ phase: Phase, atOnce: Bool = false) {
    self.phase = phase
    work = steps.begin(.first, user: instance.uid, atOnce: atOnce) { [weak self] in
      self?.step() ?? false
    }
  }

  private func step() -> Bool {
    switch phase {
    case .stopping(var walk):
      // The assignment releases the second reference to the walk, so that the walk is not copied.
      phase = .over
      stop(&walk)
    case .killing(let place):
      kill(from: place)
    case .looking, .over:
      return false
    }
    return true
  }

  /// Stops the next process. If the daemon has no permission to stop a process, for example a
  /// process of another user, it continues with the other processes.
  private func stop(_ walk: inout ProcessTreeWalk) {
    do throws(SystemError) {
      let found = try walk.next()
      phase = .stopping(walk)
      switch found {
      case .member(let stat):
        if !instance.hasStopped(stat.identity), try instance.stop(stat, membership.proc) {
          (foundNew, foundSinceCheck) = (true, true)
        }
      case .nothing: break
      case .end: walkEnded()
      }
    } catch {
      failure = failure ?? error
      // If the walk itself failed, begin the kill. If one process cannot be stopped, continue with
      // the next one.
      if case .over = phase { phase = .killing(0) }
    }
  }

  private func walkEnded() {
    walks += 1
    phase = .killing(0)
    guard foundNew, walks < Self.walksMax else { return }
    foundNew = false
    phase = .stopping(ProcessTreeWalk(instance, membership))
  }

  private func kill(from place: Int) {
    let end = min(place + Self.killsAtOnce, instance.stopped.count + 1)
    for next in place..<end {
      let process = next == 0 ? instance.leader : instance.stopped[next - 1].process
      do throws(SystemError) {
        _ = try process.pidfd.send(signal: SIGKILL)
      } catch {
        failure = failure ?? error
      }
    }
    phase = .killing(end)
    guard end == instance.stopped.count + 1 else { return }
    phase = .looking
    if wasWhole, !foundSinceCheck { return finish(failure.map { String(describing: $0) }) }
    guard BootClock.now() < limit else {
      return finish("it created new processes for \(TimeSpan.format(timeout)) without pause")
    }
    processScanner.request(instance.id) { [weak self] found in self?.scanned(found) }
  }

  private func scanned(_ found: Result<(members: [ProcessStat], isWhole: Bool), SystemError>) {
    failure = nil
    do throws(SystemError) {
      let (members, isWhole) = try found.get()
      let fresh = members.filter { !instance.hasStopped($0.identity) }
      (wasWhole, foundSinceCheck, foundNew, walks) = (isWhole, false, false, 0)
      begin(fresh.isEmpty
          ? .killing(0) : .stopping(ProcessTreeWalk(only: fresh, of: instance, membership)))
    } catch {
      failure = error
      (wasWhole, foundSinceCheck) = (true, false)
      begin(.killing(0))
    }
  }
}

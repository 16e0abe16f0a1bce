import Glibc
import LinuxSystem
import TaskSchedulerCore

/// SIGKILL to every process of one instance, until a look finds none that was missed.
///
/// All processes that are found are stopped before any is killed, so that none escapes by forking.
/// Descendants whose parents have ended are found by a look at all processes of the machine.
final class Killing {
  /// How often the tree of processes is walked before those that were found are killed: a tree that
  /// grows faster than it is stopped must not live on for that.
  private static let walksMax = 16
  /// How many processes are killed in a step.
  private static let killsAtOnce = 16

  private enum Phase {
    case stopping(MemberWalk)
    /// Kills the leader and those that were stopped, from this place on.
    case killing(Int)
    case looking
    case over
  }

  private unowned let instance: InstanceProcesses
  private let membership: Membership
  private let sweeper: Sweeper
  private let steps: ProcessSteps
  private let limit: UInt64
  private let timeout: Duration
  private var work: ProcessSteps.Work?
  private var phase = Phase.over
  private var walks = 0
  private var foundNew = false
  /// Whether the last look at all processes cannot have missed one, and whether one was stopped
  /// since.
  private var wasWhole = false
  private var foundSinceLook = false
  /// What went wrong with some of them, in the last look.
  private var failure: SystemError?
  /// Called once, with what went wrong.
  private let finish: (String?) -> Void

  init(
    _ instance: InstanceProcesses, membership: Membership, sweeper: Sweeper, steps: ProcessSteps,
    timeout: Duration, finish: @escaping (String?) -> Void
  ) {
    self.instance = instance
    self.membership = membership
    self.sweeper = sweeper
    self.steps = steps
    self.timeout = timeout
    self.finish = finish
    limit = BootClock.after(timeout)
  }

  deinit { work?.cancel() }

  /// Called once, when its owner keeps it.
  func begin() {
    begin(.stopping(MemberWalk(instance, membership)))
  }

  private func begin(_ phase: Phase) {
    self.phase = phase
    work = steps.begin(.first, user: instance.uid) { [weak self] in self?.step() ?? false }
  }

  private func step() -> Bool {
    switch phase {
    case .stopping(var walk):
      // Else what the walk knows would be copied.
      phase = .over
      stop(&walk)
    case .killing(let place):
      kill(from: place)
    case .looking, .over:
      return false
    }
    return true
  }

  /// Stops the next process. One that cannot be stopped or killed (another user's, or without a
  /// descriptor to hold it by) does not save the others.
  private func stop(_ walk: inout MemberWalk) {
    do throws(SystemError) {
      let found = try walk.next()
      phase = .stopping(walk)
      switch found {
      case .member(let stat):
        if !instance.hasStopped(stat.identity), try instance.stop(stat, membership.proc) {
          (foundNew, foundSinceLook) = (true, true)
        }
      case .nothing: break
      case .end: walkEnded()
      }
    } catch {
      failure = failure ?? error
      // A walk that cannot be read further is over; a process that cannot be stopped is passed by.
      if case .over = phase { phase = .killing(0) }
    }
  }

  private func walkEnded() {
    walks += 1
    phase = .killing(0)
    guard foundNew, walks < Self.walksMax else { return }
    foundNew = false
    phase = .stopping(MemberWalk(instance, membership))
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
    if wasWhole, !foundSinceLook { return finish(failure.map { String(describing: $0) }) }
    guard BootClock.now() < limit else {
      return finish("it made new processes for \(TimeSpan.format(timeout)) on end")
    }
    sweeper.request(instance.id) { [weak self] found in self?.swept(found) }
  }

  private func swept(_ found: Result<(members: [ProcessStat], isWhole: Bool), SystemError>) {
    failure = nil
    do throws(SystemError) {
      let (members, isWhole) = try found.get()
      let fresh = members.filter { !instance.hasStopped($0.identity) }
      (wasWhole, foundSinceLook, foundNew, walks) = (isWhole, false, false, 0)
      begin(fresh.isEmpty
        ? .killing(0) : .stopping(MemberWalk(only: fresh, of: instance, membership)))
    } catch {
      failure = error
      (wasWhole, foundSinceLook) = (true, false)
      begin(.killing(0))
    }
  }
}

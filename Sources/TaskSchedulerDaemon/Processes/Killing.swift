import Glibc
import LinuxSystem
import TaskSchedulerCore

/// SIGKILL to every process of one instance, until a look finds none that was missed.
///
/// Whoever is found is stopped before anybody is killed, so that nobody escapes by forking.
/// Descendants whose parents have ended take a look at all processes, which does not hold
/// the daemon up: it comes when the loop has time for it.
final class Killing {
  /// How often the tree of processes is walked at a time: one that grows faster than it is stopped
  /// must not keep the daemon from others.
  private static let walksMax = 16

  private unowned let instance: InstanceProcesses
  private let membership: Membership
  private let sweeper: Sweeper
  private let limit: UInt64
  private let timeout: Duration
  /// What went wrong with some of them, in the last look.
  private var failure: SystemError?
  /// Called once, with what went wrong.
  private let finish: (String?) -> Void

  init(
    _ instance: InstanceProcesses, membership: Membership, sweeper: Sweeper, timeout: Duration,
    finish: @escaping (String?) -> Void
  ) {
    self.instance = instance
    self.membership = membership
    self.sweeper = sweeper
    self.timeout = timeout
    self.finish = finish
    limit = BootClock.after(timeout)
  }

  /// Kills all that can be found at once. Called once, when its owner keeps it.
  func begin() {
    do throws(SystemError) {
      for _ in 0..<Self.walksMax {
        if try !stop(membership.tree(instance)) { break }
      }
    } catch {
      failure = error
    }
    killStopped()
    sweep()
  }

  private func sweep() {
    sweeper.request(instance.id) { [weak self] found in self?.swept(found) }
  }

  private func swept(_ found: Result<(members: [ProcessStat], isWhole: Bool), SystemError>) {
    failure = nil
    let isOver: Bool
    do throws(SystemError) {
      let (members, isWhole) = try found.get()
      isOver = !stop(members) && isWhole
    } catch {
      failure = error
      isOver = true
    }
    killStopped()
    if isOver { return finish(failure.map { String(describing: $0) }) }
    guard BootClock.now() < limit else {
      return finish("it made new processes for \(TimeSpan.format(timeout)) on end")
    }
    sweep()
  }

  /// That one cannot be stopped or killed (another user's, no descriptor to hold it by) saves none
  /// of the others.
  private func stop(_ found: [ProcessStat]) -> Bool {
    let (foundNew, refused) = instance.stopAllPossible(found, membership.proc)
    failure = failure ?? refused
    return foundNew
  }

  private func killStopped() {
    for process in [instance.leader] + instance.stopped.map(\.process) {
      do throws(SystemError) {
        _ = try process.pidfd.send(signal: SIGKILL)
      } catch {
        failure = failure ?? error
      }
    }
  }
}

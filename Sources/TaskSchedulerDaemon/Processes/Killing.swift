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
    attempt { () throws(SystemError) in
      for _ in 0..<Self.walksMax {
        if try !instance.stop(membership.tree(instance), membership.proc) { break }
      }
      try killStopped()
      sweep()
    }
  }

  private func sweep() {
    sweeper.request(instance.id) { [weak self] found in self?.swept(found) }
  }

  private func swept(_ found: Result<(members: [ProcessStat], isWhole: Bool), SystemError>) {
    attempt { () throws(SystemError) in
      let (members, isWhole) = try found.get()
      let foundNew = try instance.stop(members, membership.proc)
      try killStopped()
      if !foundNew, isWhole { return finish(nil) }
      guard BootClock.now() < limit else {
        return finish("it made new processes for \(TimeSpan.format(timeout)) on end")
      }
      sweep()
    }
  }

  private func killStopped() throws(SystemError) {
    for member in instance.stopped { _ = try member.process.pidfd.send(signal: SIGKILL) }
  }

  private func attempt(_ body: () throws(SystemError) -> Void) {
    do throws(SystemError) {
      try body()
    } catch {
      finish(String(describing: error))
    }
  }
}

import Glibc
import LinuxSystem
import TaskSchedulerCore

/// The stopping of all processes of one instance, from the first signal until all have been seen
/// to stand still. It ends itself, by `completed` or `failed`, or is dropped.
protocol Suspension: AnyObject {
  /// Called once, when its owner keeps it. Must not end it yet: the end is told from the loop, when
  /// nothing else is being handled.
  func begin() throws(SystemError)
}

/// How a suspension ends.
enum SuspensionOutcome {
  case completed
  /// Not all could be stopped. Undoing it is the caller's.
  case failed(reason: String)
}

/// By `cgroup.freeze`: the kernel stops all processes of the group, forks in progress included, and
/// nobody's SIGCONT lets them go.
final class FreezerSuspension: Suspension {
  /// The kernel tells of changes in cgroup.events at most once in this time
  /// (CGROUP_FILE_NOTIFY_MIN_INTV): the freeze itself may come before it tells again.
  private static let notificationInterval: Duration = .milliseconds(10)

  private let group: ControlGroup
  private let watch: FileDescriptor
  private var source: DescriptorSource?
  private let timer: TimerSource
  private let timeout: Duration
  private let limit: UInt64
  private var pause = GrowingPause()
  private var hasEnded = false
  private let finish: (SuspensionOutcome) -> Void

  init(
    _ group: ControlGroup, timeout: Duration, loop: EventLoop,
    finish: @escaping (SuspensionOutcome) -> Void
  ) throws(SystemError) {
    self.group = group
    self.finish = finish
    self.timeout = timeout
    limit = BootClock.after(timeout)
    watch = try group.watchEvents()
    var again: () -> Void = {}
    timer = try loop.timer { again() }
    again = { [weak self] in self?.advance() }
    // Read once before the first wait: a change is reported since the last reading.
    _ = try ControlGroup.events(of: watch.rawValue)
    source = try loop.watch(watch.rawValue, for: .priority) { [weak self] _ in
      self?.look()
    }
  }

  deinit {
    // Before the descriptor that it watches.
    source = nil
  }

  func begin() throws(SystemError) {
    try group.freeze()
    timer.set(BootClock.now())
  }

  /// Looks by itself for as long as the kernel may keep silent, then waits to be told.
  private func advance() {
    look()
    if hasEnded { return }
    guard BootClock.now() < limit else {
      let time = TimeSpan.format(timeout)
      return end(.failed(reason: "its control group \(group.path) was not frozen within \(time)"))
    }
    let next = pause.next()
    timer.set(next < Self.notificationInterval ? min(BootClock.after(next), limit) : limit)
  }

  private func look() {
    do throws(SystemError) {
      guard let events = try ControlGroup.events(of: watch.rawValue) else { return }
      if events.isFrozen { end(.completed) }
    } catch {
      end(.failed(reason: "its control group cannot be read: \(error)"))
    }
  }

  private func end(_ outcome: SuspensionOutcome) {
    hasEnded = true
    source = nil
    timer.clear()
    finish(outcome)
  }
}

/// The time between two looks at processes that are stopping: short at first, for most arrive at
/// once, then longer.
private struct GrowingPause {
  private var pause: Duration = .microseconds(200)
  private static let longest: Duration = .milliseconds(20)

  mutating func next() -> Duration {
    defer { pause = min(pause * 2, Self.longest) }
    return pause
  }
}

/// By SIGSTOP to every member, until a look finds none that runs and no new one.
///
/// A stopped process cannot fork, and a fork in progress fails while SIGSTOP is pending; so when a
/// look finds nobody new after all have been signalled, nobody is missing. The kernel tells only
/// the parent of a stop: others must look again, which is done with growing pauses, and only while
/// some process has not arrived.
final class SignalSuspension: Suspension {
  /// How often the tree of processes is walked at a time: one that grows faster than it is stopped
  /// must not keep the daemon from others.
  private static let walksMax = 16

  private unowned let instance: InstanceProcesses
  private let membership: Membership
  private let sweeper: Sweeper
  private let timer: TimerSource
  private let limit: UInt64
  private let timeout: Duration
  private var pause = GrowingPause()
  private let finish: (SuspensionOutcome) -> Void

  init(
    _ instance: InstanceProcesses, membership: Membership, sweeper: Sweeper, timeout: Duration,
    loop: EventLoop, finish: @escaping (SuspensionOutcome) -> Void
  ) throws(SystemError) {
    self.instance = instance
    self.membership = membership
    self.sweeper = sweeper
    self.timeout = timeout
    self.finish = finish
    limit = BootClock.after(timeout)
    var again: () -> Void = {}
    timer = try loop.timer { again() }
    again = { [weak self] in self?.advance() }
  }

  func begin() throws(SystemError) {
    _ = try stopTree()
    timer.set(BootClock.now())
  }

  private func advance() {
    do throws(SystemError) {
      let isWhole = try stopTree()
      if let running = try isWhole ? firstRunning() : instance.leader.identity.pid {
        guard BootClock.now() < limit else {
          return finish(
            .failed(reason: "process \(running) did not stop within \(TimeSpan.format(timeout))"))
        }
        timer.set(BootClock.after(pause.next()))
      } else if instance.origin.group != nil {
        finish(.completed)
      } else {
        sweeper.request(instance.id) { [weak self] found in self?.swept(found) }
      }
    } catch {
      finish(.failed(reason: String(describing: error)))
    }
  }

  /// All known ones stand still: are there others, whose parents have ended?
  private func swept(_ found: Result<(members: [ProcessStat], isWhole: Bool), SystemError>) {
    do throws(SystemError) {
      let (members, isWhole) = try found.get()
      if try !instance.stop(members, membership.proc), isWhole { return finish(.completed) }
      guard BootClock.now() < limit else {
        return finish(
          .failed(reason: "it made new processes for \(TimeSpan.format(timeout)) on end"))
      }
      advance()
    } catch {
      finish(.failed(reason: String(describing: error)))
    }
  }

  /// Returns whether a last walk found nobody new.
  private func stopTree() throws(SystemError) -> Bool {
    for _ in 0..<Self.walksMax {
      if try !instance.stop(membership.tree(instance), membership.proc) { return true }
    }
    return false
  }

  /// A member of which some thread may still run an instruction.
  private func firstRunning() throws(SystemError) -> Int32? {
    for member in instance.stopped {
      let pid = member.process.identity.pid
      for (_, state) in try membership.proc.threadStates(pid) ?? [] where !state.isStandingStill {
        // In uninterruptible sleep with SIGSTOP pending, it stops before its next instruction.
        if state == .diskSleep, try membership.proc.details(pid)?.isPending(SIGSTOP) ?? true {
          continue
        }
        return pid
      }
    }
    return nil
  }
}

extension InstanceProcesses {
  /// Sends SIGSTOP to those that were not sent it before. Returns whether there were any.
  func stop(_ found: [ProcessStat], _ proc: ProcFS) throws(SystemError) -> Bool {
    let (foundNew, failure) = stopAllPossible(found, proc)
    if let failure { throw failure }
    return foundNew
  }

  /// Sends SIGSTOP to those that were not sent it before. Returns whether there were any, and why
  /// the first was not sent it to whom it could not be sent.
  func stopAllPossible(
    _ found: [ProcessStat], _ proc: ProcFS
  ) -> (foundNew: Bool, failure: SystemError?) {
    var foundNew = false
    var failure: SystemError?
    let fresh = found.filter { !hasStopped($0.identity) }
    // Whoever comes after us must find them, whenever we die.
    if !fresh.isEmpty {
      willStop(
        fresh.map { .init(process: Leader($0.identity), wasStopped: $0.state == .stopped) })
    }
    for stat in fresh {
      do throws(SystemError) {
        guard let process = try handle(of: stat.identity, in: proc),
          try process.pidfd.sendTolerant(SIGSTOP, to: stat)
        else { continue }
        noteStopped(process, wasStopped: stat.state == .stopped)
        foundNew = true
      } catch {
        failure = failure ?? error
      }
    }
    return (foundNew, failure)
  }

  /// Takes hold of a member; nil where it has ended.
  func handle(
    of process: ProcessIdentity, in proc: ProcFS
  ) throws(SystemError) -> ProcessHandle? {
    if process == leader.identity { return leader }
    return try ProcessHandle(process, in: proc)
  }
}

extension PIDFD {
  /// Sends a signal; the failure names the process. Returns false where it has ended.
  fileprivate borrowing func sendTolerant(
    _ signal: Int32, to stat: ProcessStat
  ) throws(SystemError) -> Bool {
    do throws(SystemError) {
      return try send(signal: signal) == .delivered
    } catch {
      throw SystemError(
        call: "signal to process \(stat.pid) (\(stat.command))", errno: error.errno)
    }
  }
}

extension BootClock {
  /// The instant `duration` from now.
  static func after(_ duration: Duration) -> UInt64 {
    Instant(nanoseconds: now()).advanced(by: duration).nanoseconds
  }
}

import EventLoop
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

/// By SIGSTOP to every member, until a walk finds none that runs and no new one.
///
/// A stopped process cannot fork, and a fork in progress fails while SIGSTOP is pending; so when a
/// walk finds no new process, and each was signalled before the walk came to it, none is missing.
/// The kernel tells only the parent of a stop: the daemon must look again, which it does with
/// growing pauses, and only while some process still runs.
final class SignalSuspension: Suspension {
  /// How many threads of a process are examined in a step.
  private static let threadsAtOnce = 16

  private unowned let instance: InstanceProcesses
  private let membership: Membership
  private let sweeper: Sweeper
  private let steps: ProcessSteps
  private let timer: TimerSource
  private let limit: UInt64
  private let timeout: Duration
  private var pause = GrowingPause()
  private let finish: (SuspensionOutcome) -> Void
  private var work: ProcessSteps.Work?
  private var walk: MemberWalk?
  /// Whether this walk has found a process that had not been signalled.
  private var foundNew = false
  /// A process that this walk has found running.
  private var running: Int32?
  /// A process's threads that are yet to be examined.
  private var threads: (process: Int32, rest: ArraySlice<Int32>)?

  init(
    _ instance: InstanceProcesses, membership: Membership, sweeper: Sweeper, steps: ProcessSteps,
    timeout: Duration, loop: EventLoop, finish: @escaping (SuspensionOutcome) -> Void
  ) throws(SystemError) {
    self.instance = instance
    self.membership = membership
    self.sweeper = sweeper
    self.steps = steps
    self.timeout = timeout
    self.finish = finish
    limit = BootClock.after(timeout)
    var again: () -> Void = {}
    timer = try loop.timer { again() }
    again = { [weak self] in self?.begin() }
  }

  deinit { work?.cancel() }

  func begin() { begin(MemberWalk(instance, membership)) }

  private func begin(_ walk: MemberWalk) {
    self.walk = walk
    (foundNew, running, threads) = (false, nil, nil)
    work = steps.begin(.first, user: instance.uid) { [weak self] in self?.step() ?? false }
  }

  private func step() -> Bool {
    do throws(SystemError) {
      if try examineThreads() { return true }
      switch try walk?.next() ?? .end {
      case .member(let stat): try visit(stat)
      case .nothing: break
      case .end:
        walk = nil
        walkEnded()
        return false
      }
      return true
    } catch {
      finish(.failed(reason: String(describing: error)))
      return false
    }
  }

  private func visit(_ stat: ProcessStat) throws(SystemError) {
    guard instance.hasStopped(stat.identity) else {
      if try instance.stop(stat, membership.proc) { foundNew = true }
      return
    }
    // Once one runs, another walk follows; this one only looks for new processes.
    guard running == nil else { return }
    if stat.threadCount > 1 {
      threads = try membership.proc.threads(stat.pid).map { (stat.pid, $0[...]) }
    } else if try mayRun(stat.state, stat.pid) {
      running = stat.pid
    }
  }

  /// Examines threads of the process that the walk came to. Returns false where none is left.
  private func examineThreads() throws(SystemError) -> Bool {
    guard let (process, rest) = threads else { return false }
    threads = rest.count > Self.threadsAtOnce ? (process, rest.dropLast(Self.threadsAtOnce)) : nil
    for thread in rest.suffix(Self.threadsAtOnce) {
      guard let stat = try membership.proc.stat(process, thread: thread),
        try mayRun(stat.state, process)
      else { continue }
      (running, threads) = (process, nil)
      break
    }
    return true
  }

  /// Whether a thread in this state may run an instruction. One in uninterruptible sleep with
  /// SIGSTOP pending stops before its next instruction.
  private func mayRun(_ state: ProcessState, _ process: Int32) throws(SystemError) -> Bool {
    if state.isStandingStill { return false }
    guard state == .diskSleep, let details = try membership.proc.details(process) else {
      return state != .diskSleep
    }
    return !details.isPending(SIGSTOP)
  }

  private func walkEnded() {
    if foundNew {
      if isLate("it made new processes for \(TimeSpan.format(timeout)) on end") { return }
      begin()
    } else if let running {
      if isLate("process \(running) did not stop within \(TimeSpan.format(timeout))") { return }
      timer.set(BootClock.after(pause.next()))
    } else if instance.origin.group != nil {
      finish(.completed)
    } else {
      sweeper.request(instance.id) { [weak self] found in self?.swept(found) }
    }
  }

  /// Ends the suspension where its time is up.
  private func isLate(_ reason: String) -> Bool {
    if BootClock.now() < limit { return false }
    finish(.failed(reason: reason))
    return true
  }

  /// All known ones stand still: are there others, whose parents have ended?
  private func swept(_ found: Result<(members: [ProcessStat], isWhole: Bool), SystemError>) {
    do throws(SystemError) {
      let (members, isWhole) = try found.get()
      let fresh = members.filter { !instance.hasStopped($0.identity) }
      if fresh.isEmpty, isWhole { return finish(.completed) }
      if isLate("it made new processes for \(TimeSpan.format(timeout)) on end") { return }
      begin(fresh.isEmpty
        ? MemberWalk(instance, membership)
        : MemberWalk(only: fresh, of: instance, membership))
    } catch {
      finish(.failed(reason: String(describing: error)))
    }
  }
}

extension InstanceProcesses {
  /// Sends SIGSTOP to a member that was not sent it before. Returns false where it has ended.
  func stop(_ stat: ProcessStat, _ proc: ProcFS) throws(SystemError) -> Bool {
    guard let process = try handle(of: stat.identity, in: proc) else { return false }
    let wasStopped = stat.state == .stopped
    // The next daemon must find it, whenever this one dies.
    willStop([.init(process: Leader(stat.identity), wasStopped: wasStopped)])
    guard try process.pidfd.sendTolerant(SIGSTOP, to: stat) else { return false }
    noteStopped(process, wasStopped: wasStopped)
    return true
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

import EventLoop
import Glibc
import LinuxSystem
import TaskSchedulerCore

/// An attempt to stop all processes of one instance. It ends with `completed` or `failed`, unless
/// the owner cancels it.
protocol Suspension: AnyObject {
  /// Begins the suspension. The owner calls this function once, after it has stored this object.
  /// The suspension must report its end from the event loop, after this function has returned.
  func begin() throws(SystemError)
}

/// The result of a suspension.
enum SuspensionOutcome {
  case completed
  /// Some processes did not stop, or the daemon could not examine them. The caller resumes all
  /// processes.
  case failed(reason: String)
}

/// A suspension with `cgroup.freeze`. The kernel stops all processes of the group, including forks
/// in progress. SIGCONT does not resume a frozen process.
final class FreezerSuspension: Suspension {
  /// The kernel reports a change of cgroup.events at most once in this time
  /// (CGROUP_FILE_NOTIFY_MIN_INTV). A freeze may complete before the kernel reports it. The
  /// daemon therefore also reads the file itself, at shorter intervals.
  private static let notificationInterval: Duration = .milliseconds(10)

  private let group: ControlGroup
  private let watch: FileDescriptor
  private var source: DescriptorSource?
  private let timer: TimerSource
  private let timeout: Duration
  /// The deadline of the suspension, in nanoseconds since boot.
  private let limit: UInt64
  private var pause = ScanBackoff()
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
    // The kernel reports only changes that happen after the file was read. The daemon therefore
    // reads the file once before the first wait.
    _ = try ControlGroup.events(of: watch.rawValue)
    source = try loop.watch(watch.rawValue, for: .priority) { [weak self] _ in
      self?.check()
    }
  }

  deinit {
    // The source must be removed before its descriptor is closed.
    source = nil
  }

  func begin() throws(SystemError) {
    try group.freeze()
    timer.set(BootClock.now())
  }

  /// Reads the state of the group, and sets the timer for the next reading. When the interval
  /// between readings has grown to ``notificationInterval``, only waits for the kernel's report.
  private func advance() {
    check()
    if hasEnded { return }
    guard BootClock.now() < limit else {
      let time = TimeSpan.format(timeout)
      return end(.failed(reason: "its control group \(group.path) was not frozen within \(time)"))
    }
    let next = pause.next()
    timer.set(next < Self.notificationInterval ? min(BootClock.after(next), limit) : limit)
  }

  private func check() {
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

/// The time between two examinations of processes that are stopping. It is short at first, because
/// most processes stop at once, and grows with each examination.
private struct ScanBackoff {
  private var pause: Duration = .microseconds(200)
  private static let longest: Duration = .milliseconds(20)

  mutating func next() -> Duration {
    defer { pause = min(pause * 2, Self.longest) }
    return pause
  }
}

/// A suspension that sends SIGSTOP to every process of the instance, until a walk finds no running
/// process and no new process.
///
/// A stopped process cannot fork, and the kernel aborts a fork while SIGSTOP is pending. If all
/// processes that a walk finds have already received SIGSTOP, the instance has no other processes.
/// The kernel reports a stop only to the parent. The daemon therefore examines the processes again,
/// with growing pauses, while a process still runs. If the instance has no control group, a sweep
/// (``ProcessScanner``) finally searches for descendants whose parents have ended.
final class SignalSuspension: Suspension {
  /// The number of threads of a process to examine in a step.
  private static let threadsAtOnce = 16

  private unowned let instance: InstanceProcesses
  private let membership: InstanceMembership
  private let processScanner: ProcessScanner
  private let steps: ProcessWorkQueue
  private let timer: TimerSource
  /// The deadline of the suspension, in nanoseconds since boot.
  private let limit: UInt64
  private let timeout: Duration
  private var pause = ScanBackoff()
  private let finish: (SuspensionOutcome) -> Void
  private var work: ProcessWorkQueue.Work?
  private var walk: ProcessTreeWalk?
  /// Whether this walk has found a process to which the daemon had not sent SIGSTOP before.
  private var foundNew = false
  /// A running process that this walk has found.
  private var running: Int32?
  /// The threads that remain to be examined, and their process.
  private var threads: (process: Int32, rest: ArraySlice<Int32>)?

  init(
    _ instance: InstanceProcesses, membership: InstanceMembership, processScanner: ProcessScanner,
    steps: ProcessWorkQueue,
    timeout: Duration, loop: EventLoop, finish: @escaping (SuspensionOutcome) -> Void
  ) throws(SystemError) {
    self.instance = instance
    self.membership = membership
    self.processScanner = processScanner
    self.steps = steps
    self.timeout = timeout
    self.finish = finish
    limit = BootClock.after(timeout)
    var again: () -> Void = {}
    timer = try loop.timer { again() }
    again = { [weak self] in self?.begin() }
  }

  deinit { work?.cancel() }

  func begin() { begin(ProcessTreeWalk(instance, membership)) }

  private func begin(_ walk: ProcessTreeWalk) {
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
    // If a process still runs, another walk follows. The rest of this walk only searches for new
    // processes.
    guard running == nil else { return }
    if stat.threadCount > 1 {
      threads = try membership.proc.threads(stat.pid).map { (stat.pid, $0[...]) }
    } else if try mayRun(stat.state, stat.pid) {
      running = stat.pid
    }
  }

  /// Examines threads of the current process. Returns false if no thread is left.
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

  /// Returns whether a thread in this state can run another instruction. A thread in
  /// uninterruptible sleep cannot if SIGSTOP is pending: the thread stops when it wakes.
  private func mayRun(_ state: ProcessState, _ process: Int32) throws(SystemError) -> Bool {
    if state.isStandingStill { return false }
    guard state == .diskSleep, let details = try membership.proc.details(process) else {
      return state != .diskSleep
    }
    return !details.isPending(SIGSTOP)
  }

  private func walkEnded() {
    if foundNew {
      if isLate("it created new processes for \(TimeSpan.format(timeout)) without pause") { return }
      begin()
    } else if let running {
      if isLate("process \(running) did not stop within \(TimeSpan.format(timeout))") { return }
      timer.set(BootClock.after(pause.next()))
    } else if instance.origin.group != nil {
      finish(.completed)
    } else {
      processScanner.request(instance.id) { [weak self] found in self?.scanned(found) }
    }
  }

  /// Returns whether the deadline of the suspension has passed. If so, ends the suspension.
  private func isLate(_ reason: String) -> Bool {
    if BootClock.now() < limit { return false }
    finish(.failed(reason: reason))
    return true
  }

  /// Handles the result of a sweep for processes whose parents have ended. The sweep begins after
  /// all known processes have stopped.
  private func scanned(_ found: Result<(members: [ProcessStat], isWhole: Bool), SystemError>) {
    do throws(SystemError) {
      let (members, isWhole) = try found.get()
      let fresh = members.filter { !instance.hasStopped($0.identity) }
      if fresh.isEmpty, isWhole { return finish(.completed) }
      if isLate("it created new processes for \(TimeSpan.format(timeout)) without pause") { return }
      begin(fresh.isEmpty
          ? ProcessTreeWalk(instance, membership)
          : ProcessTreeWalk(only: fresh, of: instance, membership))
    } catch {
      finish(.failed(reason: String(describing: error)))
    }
  }
}

extension InstanceProcesses {
  /// Sends SIGSTOP to a process that the daemon has not stopped yet. Returns false if the process
  /// has ended.
  func stop(_ stat: ProcessStat, _ proc: ProcFS) throws(SystemError) -> Bool {
    guard let process = try handle(of: stat.identity, in: proc) else { return false }
    let wasStopped = stat.state == .stopped
    // The event log must name the process before the daemon sends the signal, so that the next
    // daemon finds the process even if this daemon dies at once.
    willStop([.init(process: Leader(stat.identity), wasStopped: wasStopped)])
    guard try process.pidfd.sendTolerant(SIGSTOP, to: stat) else { return false }
    noteStopped(process, wasStopped: wasStopped)
    return true
  }

  /// Opens a process of the instance; returns nil if the process has ended.
  func handle(
    of process: ProcessIdentity, in proc: ProcFS
  ) throws(SystemError) -> ProcessHandle? {
    if process == leader.identity { return leader }
    return try ProcessHandle(process, in: proc)
  }
}

extension PIDFD {
  /// Sends a signal. The error names the process. Returns false if the process has ended.
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

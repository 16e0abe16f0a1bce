import DequeModule
import EventLoop
import LinuxSystem
import TaskSchedulerCore

// Work on the processes of instances, in steps.
//
// The problem: an application may have thousands of processes. The daemon stops, kills and measures
// them, and lowers and restores their priorities. Most of these operations take some system calls
// for each process. For thousands of processes, that is too long for one turn of the event loop.
//
// The idea: a step examines one process, or some threads of one process. A turn of the loop
// performs steps for at most 2 ms, and then handles other events. The queue performs one step for
// each user in turn, and alternates between the pieces of work of the same user.
//
// Why this is right, although everything may change between two steps:
// - Most steps use only data that they have read themselves. If a step uses older data about a
//   process, it compares the start time, so that it notices a reused pid.
// - Before the daemon reverses some work, it cancels the remaining steps of that work.
// - A step writes to the event log before it stops a process or lowers its priority. After kill -9,
//   the next daemon thus knows which processes the work may have changed.
// - A suspension with SIGSTOP succeeds only after a walk over all processes of the instance. The
//   walk must find no new process and no running process. It may take many steps.
// - A resume sends signals to the known processes, and needs no walk. If an application has very
//   many processes, later steps resume some of them. The event log names all of these processes
//   until the resume is complete.

/// A queue that performs work on the processes of instances in steps, and lets the loop handle
/// other events between steps.
final class ProcessWorkQueue {
  /// The order in which the queue performs the work of one user.
  enum Rank {
    /// Work such as stopping, killing, resuming and restoring. The queue alternates between all
    /// work of this rank, step by step.
    case first
    /// Work that waits until no work of the first rank is left, such as lowering priorities. So the
    /// daemon restores the priorities of an ended instance before it lowers those of the next
    /// instance.
    case later
  }

  /// Work in progress.
  final class Work {
    fileprivate let rank: Rank
    fileprivate let user: UInt32
    fileprivate var step: (() -> Bool)?

    fileprivate init(_ rank: Rank, user: UInt32, step: @escaping () -> Bool) {
      self.rank = rank
      self.user = user
      self.step = step
    }

    var isUnderWay: Bool { step != nil }

    /// Cancels the work.
    func cancel() { step = nil }

    /// Performs all remaining steps.
    func finish() {
      while let step, step() {}
      cancel()
    }

    /// Performs a step. Returns whether more steps are left.
    fileprivate func advance() -> Bool {
      guard let step else { return false }
      if !step() { self.step = nil }
      return self.step != nil
    }
  }

  private struct Waiting {
    var first: Deque<Work> = []
    var later: Deque<Work> = []
  }

  /// The `user` of work that serves several users, such as a scan of the machine.
  static let everybody = UInt32.max
  /// The maximum time of one turn, in nanoseconds. Source: this project; a tenth of the 20 ms
  /// within which the daemon answers another user's call.
  private static let turnTime: UInt64 = 2_000_000
  /// The maximum number of steps in one turn.
  static let stepsMax = 64

  private var waiting: [UInt32: Waiting] = [:]
  private var turns: Deque<UInt32> = []
  private var timer: TimerSource?

  init(loop: EventLoop) throws(SystemError) {
    timer = try loop.timer { [weak self] in self?.turn() }
  }

  /// Calls `step` until it returns false or the work is cancelled.
  ///
  /// - Parameter atOnce: If true, performs up to ``stepsMax`` steps before this call returns,
  ///   unless the user has other work of the first rank. If there are few processes, the work is
  ///   then complete when the call returns.
  @discardableResult
  func begin(
    _ rank: Rank, user: UInt32, atOnce: Bool = false, step: @escaping () -> Bool
  ) -> Work {
    let work = Work(rank, user: user, step: step)
    if atOnce, waiting[user]?.first.isEmpty ?? true {
      for _ in 0..<Self.stepsMax where !work.advance() { return work }
    }
    if turns.isEmpty { timer?.set(BootClock.now()) }
    if waiting[user] == nil {
      waiting[user] = Waiting()
      turns.append(user)
    }
    add(work)
    return work
  }

  private func add(_ work: Work) {
    switch work.rank {
    case .first: waiting[work.user]?.first.append(work)
    case .later: waiting[work.user]?.later.append(work)
    }
  }

  private func turn() {
    let end = BootClock.now() + Self.turnTime
    for _ in 0..<Self.stepsMax {
      guard let user = turns.popFirst() else { break }
      advance(user)
      if BootClock.now() >= end { break }
    }
    if !turns.isEmpty { timer?.set(BootClock.now()) }
  }

  /// Performs the next step of the user's work. The step may begin other work.
  private func advance(_ user: UInt32) {
    let work = waiting[user]?.first.popFirst() ?? waiting[user]?.later.popFirst()
    if let work, work.advance() { add(work) }
    if waiting[user].map({ $0.first.isEmpty && $0.later.isEmpty }) ?? true {
      waiting[user] = nil
    } else {
      turns.append(user)
    }
  }
}

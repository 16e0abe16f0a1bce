import DequeModule
import EventLoop
import LinuxSystem
import TaskSchedulerCore

// An application may have thousands of processes, and most operations need some system calls for
// each of them: the daemon stops, kills and measures processes, and lowers and restores their
// priorities. A turn of the loop must not take that long. The daemon therefore divides such work
// into steps. A step examines one process, or some threads of one process. In a turn, the daemon
// does steps for 2 ms, and then handles other events. Users alternate step by step, and so do the
// works of one user.
//
// Between two steps everything may change. A step therefore uses only what it has read itself, or
// compares the start time of a process again to notice a reused pid. An effect that reverses a work
// cancels the work first. Each step writes to the event log before it stops or lowers a process.
// The reversing effect, and after `kill -9` the next daemon, thus know how far the work has
// proceeded.
//
// A suspension is complete only when one walk over all members has found no new process and no
// running process. A resume needs no walk: it signals the processes that the daemon has stopped.
// All processes run when the call returns, except in very large applications. The event log names
// the remaining processes until they run.

/// Does work on the processes of instances in steps, with turns of other events in between.
final class ProcessSteps {
  /// The order of one user's work.
  enum Rank {
    /// Stopping, killing, resuming and restoring. The works of this rank alternate.
    case first
    /// Work that can wait, such as lowering. It begins after all work of the first rank, so that
    /// the daemon restores the priorities of an ended instance before it lowers those of its
    /// successor.
    case later
  }

  /// A piece of work in progress.
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

    /// Does all remaining steps.
    func finish() {
      while let step, step() {}
      cancel()
    }

    /// Does a step. Returns whether there are more.
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

  /// The user id for work that serves several users.
  static let everybody = UInt32.max
  /// The maximum time and number of steps in one turn. Source: this project; a tenth of the time
  /// within which the daemon answers another user's call.
  private static let turnTime: UInt64 = 2_000_000
  static let stepsMax = 64

  private var waiting: [UInt32: Waiting] = [:]
  private var turns: Deque<UInt32> = []
  private var timer: TimerSource?

  init(loop: EventLoop) throws(SystemError) {
    timer = try loop.timer { [weak self] in self?.turn() }
  }

  /// Calls `step` until it returns false or the work is cancelled.
  ///
  /// - Parameter atOnce: Whether to do the first steps before this call returns, unless other work
  ///   of the user is in progress. An application with few processes is thus handled at once.
  @discardableResult
  func begin(
    _ rank: Rank, user: UInt32, atOnce: Bool = false, step: @escaping () -> Bool
  ) -> Work {
    let work = Work(rank, user: user, step: step)
    if atOnce, waiting[user] == nil {
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

  /// Does the next step of the user's work. The step may begin other work.
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

import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A limit on the CPU time of an instance that the kernel cannot limit through a control group. The
/// throttle stops and resumes the processes of the instance many times a second.
///
/// The daemon needs milliseconds to stop an instance with many processes. If it needs more than a
/// tenth of the period, the throttle extends the period.
final class Throttle {
  /// The shortest period. The kernel's cpu.max has the same default period.
  private static let periodMin: Duration = .milliseconds(100)
  private static let costFactor = 10

  private let timer: TimerSource
  private let percent: Int
  private var period = Throttle.periodMin
  private var isStopped = false
  private let stop: (_ done: @escaping () -> Void) -> Void
  private let resume: () -> Void

  /// - Parameters:
  ///   - percent: The part of the time in which the instance runs, from 1 to 99.
  ///   - stop: Stops the instance, and then calls `done`.
  init(
    percent: Int, loop: EventLoop, stop: @escaping (_ done: @escaping () -> Void) -> Void,
    resume: @escaping () -> Void
  ) throws(SystemError) {
    self.percent = percent
    self.stop = stop
    self.resume = resume
    var next: () -> Void = {}
    timer = try loop.timer { next() }
    next = { [weak self] in self?.turn() }
    timer.set(BootClock.after(running))
  }

  /// Ends the throttle.
  ///
  /// - Parameter resuming: Whether to resume the instance; false if the caller needs it stopped.
  func end(resuming: Bool) {
    timer.clear()
    if isStopped, resuming { resume() }
  }

  private var running: Duration { period * percent / 100 }

  private func turn() {
    isStopped.toggle()
    guard isStopped else {
      resume()
      return timer.set(BootClock.after(running))
    }
    let start = BootClock.now()
    stop { [weak self] in
      guard let self else { return }
      let cost = Duration.nanoseconds(Int64(clamping: BootClock.now() - start))
      period = max(Self.periodMin, cost * Self.costFactor)
      timer.set(BootClock.after(period - running))
    }
  }
}

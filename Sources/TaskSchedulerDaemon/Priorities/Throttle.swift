import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// Lets an instance run for a part of the time, where no controller limits it: stopped and let run
/// again many times a second, by what suspends it too.
///
/// To stop one of many processes takes the daemon milliseconds. Where that is more than a tenth of
/// the period, periods are longer, so that no throttle costs more than a tenth of the time.
final class Throttle {
  /// As long as cpu.max has it.
  private static let periodMin: Duration = .milliseconds(100)
  private static let costFactor = 10

  private let timer: TimerSource
  private let percent: Int
  private var period = Throttle.periodMin
  private var isStopped = false
  private let stop: (_ done: @escaping () -> Void) -> Void
  private let letRun: () -> Void

  /// - Parameters:
  ///   - percent: of the time, 1 to 99.
  ///   - stop: stops it, and calls its argument when that is done.
  init(
    percent: Int, loop: EventLoop, stop: @escaping (_ done: @escaping () -> Void) -> Void,
    letRun: @escaping () -> Void
  ) throws(SystemError) {
    self.percent = percent
    self.stop = stop
    self.letRun = letRun
    var next: () -> Void = {}
    timer = try loop.timer { next() }
    next = { [weak self] in self?.turn() }
    timer.set(BootClock.after(running))
  }

  /// It is to run again, or what stops it is another's from here on.
  func end(lettingRun: Bool) {
    timer.clear()
    if isStopped, lettingRun { letRun() }
  }

  private var running: Duration { period * percent / 100 }

  private func turn() {
    isStopped.toggle()
    guard isStopped else {
      letRun()
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

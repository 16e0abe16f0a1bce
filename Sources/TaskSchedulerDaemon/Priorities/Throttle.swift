import LinuxSystem
import TaskSchedulerCore

/// Lets an instance run for a part of the time, where no controller limits it: stopped and let run
/// again many times a second, by what suspends it too.
final class Throttle {
  /// As long as cpu.max has it.
  private static let period: Duration = .milliseconds(100)

  private let timer: TimerSource
  private let running: Duration
  private var isStopped = false
  private let stop: () -> Void
  private let letRun: () -> Void

  /// - Parameter percent: of the time, 1 to 99.
  init(
    percent: Int, loop: EventLoop, stop: @escaping () -> Void, letRun: @escaping () -> Void
  ) throws(SystemError) {
    running = Self.period * percent / 100
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

  private func turn() {
    isStopped.toggle()
    if isStopped { stop() } else { letRun() }
    timer.set(BootClock.after(isStopped ? Self.period - running : running))
  }
}

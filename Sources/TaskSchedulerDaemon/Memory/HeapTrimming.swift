import EventLoop
import LinuxSystem

/// Trims the heap after a busy time: returns the allocator's free memory to the kernel.
///
/// A used block at the end of the heap keeps even the free memory below it allocated. After a flood
/// of calls from clients, the heap can be ten times as large as the used memory. The daemon
/// therefore trims the heap a few seconds after much work. If it was busy during these seconds too,
/// it trims the heap again after the same time. An idle daemon does not wake up to trim the heap.
final class HeapTrimming {
  /// The working time, in nanoseconds, after which trimming is worthwhile: about 10,000 calls.
  /// Source: this project.
  static let workMin: UInt64 = 250_000_000
  /// The working time during ``delay``, in nanoseconds, that makes the daemon trim the heap again.
  /// Source: this project.
  static let restMin: UInt64 = 10_000_000

  private let delay: Duration
  private let trim: () -> Void
  private var timer: TimerSource?
  private var work: UInt64 = 0
  private var isDue = false

  /// - Parameters:
  ///   - delay: The time from the work to the trimming. Source: this project.
  ///   - trim: Trims the heap.
  init(
    loop: EventLoop, delay: Duration = .seconds(5), trim: @escaping () -> Void
  ) throws(SystemError) {
    self.delay = delay
    self.trim = trim
    timer = try loop.timer { [unowned self] in trimNow() }
  }

  /// Records that the daemon has worked for this number of nanoseconds.
  func worked(_ nanoseconds: UInt64) {
    work &+= nanoseconds
    if !isDue, work >= Self.workMin { schedule() }
  }

  private func schedule() {
    isDue = true
    work = 0
    timer?.set(BootClock.after(delay))
  }

  private func trimNow() {
    trim()
    isDue = false
    if work >= Self.restMin { schedule() }
  }
}

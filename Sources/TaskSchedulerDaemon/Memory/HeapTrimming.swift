import EventLoop
import LinuxSystem

/// Returns the memory that the allocator keeps after a busy time to the kernel.
///
/// A block that is still in use at the end of the heap keeps everything below it allocated; after a
/// flood of calls, that may be ten times what is used. The heap is therefore trimmed some time
/// after much work, and again until there was little work in that time. An idle daemon is not
/// woken.
final class HeapTrimming {
  /// The work in nanoseconds after which trimming is worthwhile. Source: this project; about 10,000
  /// calls.
  static let workMin: UInt64 = 250_000_000
  /// The work in nanoseconds since the last trimming that requires another. Source: this project.
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

  /// Adds a number of nanoseconds of work.
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

import LinuxSystem

/// Returns to the kernel the memory that the allocator keeps after a busy time.
///
/// What was allocated last and is still used keeps all that lies below it in the heap: after an
/// attack, that would be ten times what is used. So the heap is trimmed a while after much work,
/// and again until a while has passed with little work. An idle daemon is not woken.
final class HeapTrimming {
  /// Nanoseconds of work after which trimming is worth its while. Source: this project; some 10,000
  /// calls.
  static let workMin: UInt64 = 250_000_000
  /// Nanoseconds of work before the last trimming that ask for another. Source: this project.
  static let restMin: UInt64 = 10_000_000

  private let delay: Duration
  private let trim: () -> Void
  private var timer: TimerSource?
  private var work: UInt64 = 0
  private var isDue = false

  /// - Parameters:
  ///   - delay: from the work to the trimming. Source: this project.
  ///   - trim: trims the heap.
  init(
    loop: EventLoop, delay: Duration = .seconds(5), trim: @escaping () -> Void
  ) throws(SystemError) {
    self.delay = delay
    self.trim = trim
    timer = try loop.timer { [unowned self] in trimNow() }
  }

  /// So many nanoseconds of work were done.
  func worked(_ nanoseconds: UInt64) {
    work &+= nanoseconds
    if !isDue, work >= Self.workMin { beDue() }
  }

  private func beDue() {
    isDue = true
    work = 0
    timer?.set(BootClock.after(delay))
  }

  private func trimNow() {
    trim()
    isDue = false
    if work >= Self.restMin { beDue() }
  }
}

import EventLoop
import LinuxSystem
import TaskSchedulerCore

/// A provider that reports when the wall clock was set.
final class ClockProvider: SystemChangeProvider {
  let subject = "the clock"
  private let loop: EventLoop
  private let readOffset: () -> Int64
  private let changed: (Int64) -> Void
  private var watch: Watch?
  private var source: DescriptorSource?
  /// The offset of the wall clock from CLOCK_BOOTTIME in the last report, or at the start, in
  /// nanoseconds.
  private(set) var offset: Int64

  /// A watch in a class, because Swift cannot borrow a noncopyable value in an optional.
  private final class Watch {
    let clock: ClockSetWatch
    init() throws(SystemError) { clock = try ClockSetWatch() }
  }

  /// The largest difference of the offset that does not count as a change, in nanoseconds. The
  /// error of a reading is far smaller. The provider compares with the offset in the last report,
  /// so several smaller steps together can count as a change.
  static let toleranceNanoseconds: UInt64 = 1_000_000

  /// - Parameters:
  ///   - readOffset: Returns the present offset; see `WallClock.offset()`.
  ///   - changed: Called with the new offset.
  init(
    loop: EventLoop, readOffset: @escaping () -> Int64 = { WallClock.offset() },
    changed: @escaping (Int64) -> Void
  ) {
    self.loop = loop
    self.readOffset = readOffset
    self.changed = changed
    offset = readOffset()
  }

  func start() throws(SystemError) {
    let watch = try Watch()
    self.watch = watch
    // The clock may have been set before the watch existed.
    offset = readOffset()
    source = try loop.watch(watch.clock.descriptor.rawValue, for: .input) { [weak self] _ in
      self?.read()
    }
  }

  /// Handles a report of the kernel. A wake-up of the machine also causes a report, without a
  /// change of the offset.
  func read() {
    // If the report cannot be read, only the comparison of the offsets shows whether the clock
    // was set.
    guard (try? watch?.clock.takeSetting()) ?? true else { return }
    let present = readOffset()
    guard Self.isSet(from: offset, to: present) else { return }
    offset = present
    changed(present)
  }

  /// Returns whether two offsets differ by more than ``toleranceNanoseconds``.
  static func isSet(from old: Int64, to new: Int64) -> Bool {
    let (difference, isTooFar) = new.subtractingReportingOverflow(old)
    return isTooFar || difference.magnitude > toleranceNanoseconds
  }
}

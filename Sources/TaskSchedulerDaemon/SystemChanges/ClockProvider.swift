import LinuxSystem
import TaskSchedulerCore

/// Tells when the wall clock was set.
final class ClockProvider: SystemChangeProvider {
  let subject = "the clock"
  private let loop: EventLoop
  private let readOffset: () -> Int64
  private let changed: (Int64) -> Void
  private var watch: Watch?
  private var source: DescriptorSource?
  /// The wall clock's offset when it was last told.
  private(set) var offset: Int64

  /// In a class, for what is not copyable cannot be in an optional that is borrowed.
  private final class Watch {
    let clock: ClockSetWatch
    init() throws(SystemError) { clock = try ClockSetWatch() }
  }

  /// By how many nanoseconds the offset must be another: far more than reading it is wrong by, far
  /// less than anybody sees. Smaller steps add up.
  static let toleranceNanoseconds: UInt64 = 1_000_000

  /// - Parameters:
  ///   - readOffset: the present offset; see `WallClock.offset()`.
  ///   - changed: called with the new offset.
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
    // What was set before the watch was there.
    offset = readOffset()
    source = try loop.watch(watch.clock.descriptor.rawValue, for: .input) { [weak self] _ in
      self?.look()
    }
  }

  /// Takes what the kernel has told. The machine's waking up is told in the same way, and leaves
  /// the offset as it was.
  func look() {
    // A failure that is not known leaves the offset to say what happened.
    guard (try? watch?.clock.takeSetting()) ?? true else { return }
    let present = readOffset()
    guard Self.isSet(from: offset, to: present) else { return }
    offset = present
    changed(present)
  }

  /// Whether an offset is another by more than its reading is wrong.
  static func isSet(from old: Int64, to new: Int64) -> Bool {
    let (difference, isTooFar) = new.subtractingReportingOverflow(old)
    return isTooFar || difference.magnitude > toleranceNanoseconds
  }
}

import Glibc
import LinuxSystem
import TaskSchedulerSimulation

/// Posts the locations of a track at their times.
struct TrackPlayer {
  /// A clock in nanoseconds, with a function that sleeps until an instant.
  struct Clock {
    var now: () -> UInt64
    var sleep: (_ until: UInt64) -> Void

    /// CLOCK_BOOTTIME.
    static var boot: Clock {
      Clock(now: BootClock.now) { end in
        var time = timespec(
          tv_sec: time_t(end / 1_000_000_000), tv_nsec: Int(end % 1_000_000_000))
        while clock_nanosleep(CLOCK_BOOTTIME, TIMER_ABSTIME, &time, nil) == EINTR {}
      }
    }
  }

  /// The interval at which the player repeats a location, in nanoseconds. After `LocationFixTime`
  /// (60 s by default), the daemon would use the locations of its sources again.
  static let repetition: UInt64 = 30_000_000_000

  let clock: Clock
  let post: (Track.Point) throws -> Void

  init(clock: Clock, post: @escaping (Track.Point) throws -> Void) {
    self.clock = clock
    self.post = post
  }

  /// Plays a track to its end.
  ///
  /// - Parameter posted: Called after each location, with the number of locations so far.
  func play(_ plan: TrackPlan, posted: (Int, TrackPlan.Stop) -> Void) throws {
    let start = clock.now()
    var last: Track.Point?
    for index in 0..<plan.count {
      let stop = plan.stop(index)
      try wait(until: Self.sum(start, stop.at), repeating: last)
      try post(stop.point)
      posted(index + 1, stop)
      last = stop.point
    }
  }

  /// Waits until an instant, and repeats the last location meanwhile. A repeated location has no
  /// speed and no course, because the simulated machine rests.
  private func wait(until end: UInt64, repeating last: Track.Point?) throws {
    var now = clock.now()
    while now < end {
      let next = now + Self.repetition
      clock.sleep(min(next, end))
      now = clock.now()
      guard next < end, var resting = last else { continue }
      resting.speed = nil
      resting.course = nil
      try post(resting)
    }
  }

  /// Returns an instant plus a time span, limited so that adding ``repetition`` cannot overflow.
  private static func sum(_ instant: UInt64, _ span: Duration) -> UInt64 {
    let (seconds, attoseconds) = span.components
    let (whole, isTooLong) = UInt64(clamping: seconds).multipliedReportingOverflow(
      by: 1_000_000_000)
    let (sum, isOver) = instant.addingReportingOverflow(
      whole &+ UInt64(clamping: attoseconds / 1_000_000_000))
    return isTooLong || isOver ? .max - repetition : sum
  }
}

/// The progress of a track on a terminal.
struct TrackProgress {
  private let plan: TrackPlan
  private let isShown: Bool
  private var shownAt: UInt64?

  /// The minimum time between two outputs, in nanoseconds.
  private static let interval: UInt64 = 100_000_000

  init(_ plan: TrackPlan) {
    self.plan = plan
    isShown = isatty(STDERR_FILENO) == 1 && environment("TERM") != "dumb"
  }

  mutating func show(_ count: Int, _ stop: TrackPlan.Stop) {
    guard isShown else { return }
    let now = BootClock.now()
    if let shownAt, now < shownAt + Self.interval, count < plan.count { return }
    shownAt = now
    Output.replaceLine(text(count, stop))
  }

  /// Removes the line with the progress.
  mutating func clear() {
    guard shownAt != nil else { return }
    shownAt = nil
    Output.replaceLine("")
  }

  /// Returns `12 of 345: 52.516300, 13.377700; 3 min left`.
  func text(_ count: Int, _ stop: TrackPlan.Stop) -> String {
    let left = (plan.duration - stop.at).microseconds
    return "\(count) of \(plan.count): \(LocationText.place(stop.point.coordinate)); "
      + "\(TimeSpan.text(usec: left)) left"
  }
}

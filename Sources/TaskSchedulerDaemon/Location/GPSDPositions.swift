import TaskSchedulerCore

/// Selects the positions that the daemon takes from gpsd.
///
/// gpsd repeats a position when it knows more details, and it reports a position for each receiver.
/// The daemon takes a position only if its time is after the time of the last taken position, or
/// before that time by ``correctionMin`` or more. It takes at most ``countMax`` positions a second.
struct GPSDPositions {
  /// The maximum number of positions within each second. Source: this project; fast receivers
  /// report 10 positions a second.
  static let countMax = 10
  /// The daemon takes a position that is older than the last one by at least this time, because
  /// such a large step means that the receiver has corrected a wrong clock. Source: this project.
  static let correctionMin: Duration = .seconds(600)

  private var timeLast: WallTime?
  /// The instants at which the last ``countMax`` positions were taken. The oldest instant has the
  /// index ``oldest``.
  private var instants: [UInt64] = []
  private var oldest = 0

  /// Returns whether the daemon takes a position.
  ///
  /// - Parameters:
  ///   - time: The time of the position.
  ///   - now: The present instant, in nanoseconds since boot.
  mutating func takes(_ time: WallTime, at now: UInt64) -> Bool {
    if let timeLast, time <= timeLast,
      Duration.nanoseconds(timeLast.nanoseconds - time.nanoseconds) < Self.correctionMin
    {
      return false
    }
    guard hasRoom(at: now) else { return false }
    timeLast = time
    return true
  }

  private mutating func hasRoom(at now: UInt64) -> Bool {
    if instants.count < Self.countMax {
      instants.append(now)
      return true
    }
    guard now >= instants[oldest] + 1_000_000_000 else { return false }
    instants[oldest] = now
    oldest = (oldest + 1) % Self.countMax
    return true
  }
}

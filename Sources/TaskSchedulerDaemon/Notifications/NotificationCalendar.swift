import TaskSchedulerCore

/// An error in a schedule, with a message for users.
struct ScheduleError: Error, Hashable, CustomStringConvertible {
  /// The invalid field, named as in the interface.
  enum Field: String {
    case date, timeZone
  }

  let field: Field
  let message: String
  var description: String { "\(field.rawValue): \(message)" }

  init(field: Field, _ message: String) {
    self.field = field
    self.message = message
  }
}

/// Computes when notifications fire (contract §9).
///
/// - A clock change may skip the local time of a notification. Then the notification fires at the
///   moment of the change: a notification for 02:30 fires at 03:00, as with
///   `Calendar.MatchingPolicy.nextTime` of iOS. If a clock change repeats the local time, the
///   notification fires at the first occurrence.
/// - Repetitions by minute and hour count elapsed time, so that a clock change does not double or
///   skip a repetition.
/// - Repetitions by day, week, month and year count local time from the schedule's date, not from
///   the last firing. A notification for the 31st therefore fires on the last day of a shorter
///   month, and on the 31st of a later month. February 29 becomes February 28 in common years.
///
/// The cost of a computation does not depend on how long ago the schedule began.
struct NotificationCalendar {
  private let zones: TimeZoneDatabase

  init(_ zones: TimeZoneDatabase = TimeZoneDatabase()) {
    self.zones = zones
  }

  /// Returns the first firing time of a schedule, which may be in the past.
  func first(_ schedule: NotificationSchedule) throws(ScheduleError) -> WallTime {
    try FiringTimes(schedule, zones).first
  }

  /// Returns the first firing time after a moment; nil if there is none until the end of 2199.
  func next(
    _ schedule: NotificationSchedule, after moment: WallTime
  ) throws(ScheduleError) -> WallTime? {
    try FiringTimes(schedule, zones).next(after: moment)
  }

  /// Computes the next firing time of a stored notification again, because the rules in the tz
  /// database may have changed. Returns nil if the notification does not fire again.
  func corrected(_ stored: StoredNotification) throws(ScheduleError) -> WallTime? {
    guard let schedule = stored.schedule, let firesAt = stored.firesAt else { return nil }
    let times = try FiringTimes(schedule, zones)
    guard let repeats = schedule.repeats else { return times.first }
    // Changed rules may have moved the stored repetition to an earlier or a later time. A search
    // that begins half an interval before the stored time finds the same repetition. For long
    // intervals, 12 hours are enough: no change of the rules moves a clock by half a day.
    let half: Int64 =
      switch repeats {
      case .minute: 30
      case .hour: 1_800
      case .day, .week, .month, .year: 43_200
      }
    return times.next(
      after: WallTime(nanoseconds: firesAt.nanoseconds - half * FiringTimes.nanosecondsPerSecond))
  }

  /// The firing times of one schedule.
  struct FiringTimes {
    private let start: LocalTime
    private let rules: TimeZoneRules
    private let interval: RepeatInterval?
    /// The first firing time, at the schedule's date.
    let first: WallTime

    init(_ schedule: NotificationSchedule, _ zones: TimeZoneDatabase) throws(ScheduleError) {
      start = try LocalTime(schedule.date)
      rules = try zones.rules(schedule.timeZone)
      interval = schedule.repeats
      first = Self.moment(start, rules)
    }

    /// Returns the first firing time after a moment.
    func next(after moment: WallTime) -> WallTime? {
      if moment < first { return first }
      guard let interval else { return nil }
      let next =
        switch interval {
        case .minute: elapsed(60, after: moment)
        case .hour: elapsed(3_600, after: moment)
        case .day: inLocalTime(after: moment) { $0.start.adding(days: $1) }
        case .week: inLocalTime(after: moment) { $0.start.adding(days: 7 * $1) }
        case .month: inLocalTime(after: moment) { $0.start.adding(months: $1) }
        case .year: inLocalTime(after: moment) { $0.start.adding(months: 12 * $1) }
        }
      return next.flatMap { $0 <= Self.end ? $0 : nil }
    }

    /// The end of the year ``LocalTime/yearMax``, plus one day because local times differ from UTC.
    private static let end = WallTime(
      nanoseconds: Int64(LocalDay(year: LocalTime.yearMax + 1, month: 1, day: 2).number)
        * LocalTime.secondsPerDay * nanosecondsPerSecond)
    fileprivate static let nanosecondsPerSecond: Int64 = 1_000_000_000

    private func elapsed(_ seconds: Int64, after moment: WallTime) -> WallTime? {
      guard moment <= Self.end else { return nil }
      let period = seconds * Self.nanosecondsPerSecond
      let count = (moment.nanoseconds - first.nanoseconds) / period + 1
      return WallTime(nanoseconds: first.nanoseconds + count * period)
    }

    /// Returns the first firing time after `moment`, for a schedule that repeats in local time.
    ///
    /// - Parameter repetition: Returns the local time of the n-th repetition.
    private func inLocalTime(
      after moment: WallTime, _ repetition: (FiringTimes, Int) -> LocalTime
    ) -> WallTime? {
      guard moment <= Self.end else { return nil }
      func time(_ count: Int) -> WallTime { Self.moment(repetition(self, count), rules) }
      // The times of the repetitions ascend, so a bisection finds the number of the repetition. Two
      // times are equal only if a clock change skips a day or more.
      var (low, high) = (1, 366 * (LocalTime.yearMax - LocalTime.yearMin + 2))
      while low < high {
        let middle = (low + high) / 2
        if time(middle) > moment { high = middle } else { low = middle + 1 }
      }
      return time(low)
    }

    private static func moment(_ local: LocalTime, _ rules: TimeZoneRules) -> WallTime {
      // The bisection also tries times that a 64-bit number of nanoseconds cannot represent.
      guard local.day.year <= LocalTime.yearMax + 1 else { return WallTime(nanoseconds: .max) }
      return WallTime(
        nanoseconds: rules.firstMoment(showing: local.seconds) * nanosecondsPerSecond)
    }
  }
}

extension LocalTime {
  fileprivate func adding(days: Int) -> LocalTime {
    LocalTime(day: LocalDay(number: day.number + days), secondOfDay: secondOfDay)
  }

  fileprivate func adding(months: Int) -> LocalTime {
    LocalTime(day: day.adding(months: months), secondOfDay: secondOfDay)
  }
}

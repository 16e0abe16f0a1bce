import TaskSchedulerCore

/// What is wrong with a schedule, as a person wants to read it.
struct ScheduleError: Error, Hashable, CustomStringConvertible {
  /// The part of the schedule that it is about, as the interface names it.
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

/// When notifications fire (contract §9).
///
/// - Where clocks are put forward past the time, it fires at the moment when this is done: 02:30 of
///   such a night is 03:00, as `Calendar.MatchingPolicy.nextTime` of iOS has it. Where they
///   are put back and show the time twice, it fires the first time.
/// - Every minute and every hour are by elapsed time: none is doubled or left out when clocks
///   change.
/// - Every day, week, month and year are by the wall's clock, counted from the schedule's date and
///   not from the last firing: the 31st is the last day of a shorter month, and the 31st again
///   after it; the 29th of February is the 28th in ordinary years.
///
/// Nothing here takes longer the longer ago the schedule began.
struct NotificationCalendar {
  private let zones: TimeZoneFolder

  init(_ zones: TimeZoneFolder = TimeZoneFolder()) {
    self.zones = zones
  }

  /// When it fires first; that may have passed.
  func first(_ schedule: NotificationSchedule) throws(ScheduleError) -> WallTime {
    try Times(schedule, zones).first
  }

  /// The first time that it fires after a moment; nil where none comes, or only after the year
  /// 2199.
  func next(
    _ schedule: NotificationSchedule, after moment: WallTime
  ) throws(ScheduleError) -> WallTime? {
    try Times(schedule, zones).next(after: moment)
  }

  /// When a stored one fires next by the rules of today: governments change them, and the machine's
  /// tz database follows. nil where it will not fire.
  func corrected(_ stored: StoredNotification) throws(ScheduleError) -> WallTime? {
    guard let schedule = stored.schedule, let firesAt = stored.firesAt else { return nil }
    let times = try Times(schedule, zones)
    guard let repeats = schedule.repeats else { return times.first }
    // The one that is nearest: clocks are not moved by half a day.
    let half: Int64 =
      switch repeats {
      case .minute: 30
      case .hour: 1_800
      case .day, .week, .month, .year: 43_200
      }
    return times.next(
      after: WallTime(nanoseconds: firesAt.nanoseconds - half * Times.nanosecondsPerSecond))
  }

  /// All the times of one schedule.
  struct Times {
    private let start: LocalTime
    private let rules: TimeZoneRules
    private let interval: RepeatInterval?
    /// The schedule's own date.
    let first: WallTime

    init(_ schedule: NotificationSchedule, _ zones: TimeZoneFolder) throws(ScheduleError) {
      start = try LocalTime(schedule.date)
      rules = try zones.rules(schedule.timeZone)
      interval = schedule.repeats
      first = Self.moment(start, rules)
    }

    /// The first of them after a moment.
    func next(after moment: WallTime) -> WallTime? {
      if moment < first { return first }
      guard let interval else { return nil }
      let next =
        switch interval {
        case .minute: elapsed(60, after: moment)
        case .hour: elapsed(3_600, after: moment)
        case .day: onWall(after: moment) { $0.start.adding(days: $1) }
        case .week: onWall(after: moment) { $0.start.adding(days: 7 * $1) }
        case .month: onWall(after: moment) { $0.start.adding(months: $1) }
        case .year: onWall(after: moment) { $0.start.adding(months: 12 * $1) }
        }
      return next.flatMap { $0 <= Self.end ? $0 : nil }
    }

    /// The last moment of the last year, somewhere on Earth.
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

    /// - Parameter repetition: what the wall's clock shows the n-th time after the first.
    private func onWall(
      after moment: WallTime, _ repetition: (Times, Int) -> LocalTime
    ) -> WallTime? {
      guard moment <= Self.end else { return nil }
      func time(_ count: Int) -> WallTime { Self.moment(repetition(self, count), rules) }
      // Its number is sought by halves: each is later than the one before, or (where clocks are put
      // forward by more than a day) as late.
      var (low, high) = (1, 366 * (LocalTime.yearMax - LocalTime.yearMin + 2))
      while low < high {
        let middle = (low + high) / 2
        if time(middle) > moment { high = middle } else { low = middle + 1 }
      }
      return time(low)
    }

    private static func moment(_ local: LocalTime, _ rules: TimeZoneRules) -> WallTime {
      // Beyond what nanoseconds can count no time is asked for, only sought.
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

import FoundationEssentials
import TaskSchedulerWire
import Testing

@testable import TaskSchedulerClient

@Suite struct CalendarDateTests {
  @Test(
    "The date of an instant is its date in UTC, rounded up to a second",
    arguments: [
      (0.0, "1970-01-01T00:00:00"), (951_782_399, "2000-02-28T23:59:59"),
      (951_782_400, "2000-02-29T00:00:00"), (951_868_800, "2000-03-01T00:00:00"),
      (4_107_542_400, "2100-03-01T00:00:00"), (4_107_456_000, "2100-02-28T00:00:00"),
      (1_795_536_000, "2026-11-24T16:00:00"), (-1, "1969-12-31T23:59:59"),
      (-2_203_891_201, "1900-02-28T23:59:59"), (1.25, "1970-01-01T00:00:02"),
    ])
  func instants(_ seconds: Double, _ text: String) {
    let date = CalendarDate(Date(timeIntervalSince1970: seconds))
    #expect(date.textWithoutZone == text)
    #expect(date.timeZone == .utc)
  }

  @Test("The days of 800 years follow each other in the calendar")
  func days() {
    let lengths = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
    var (year, month, day) = (1600, 1, 1)
    var wrong: [CalendarDay] = []
    for number in -135_140..<(-135_140 + 2 * 146_097) {
      let expected = CalendarDay(year: year, month: month, day: day)
      if CalendarDay(daysSince1970: number) != expected { wrong.append(expected) }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let length = month == 2 && isLeap ? 29 : lengths[month - 1]
      day += 1
      if day > length { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
    #expect(wrong.isEmpty)
    #expect(year == 2400)
  }

  @Test("A date that is written as text and read again equals the original")
  func text() {
    let date = CalendarDate(
      year: 2026, month: 3, day: 9, hour: 7, minute: 5, second: 1, timeZone: "Europe/Berlin")
    #expect(date.textWithoutZone == "2026-03-09T07:05:01")
    #expect(date.description == "2026-03-09T07:05:01 Europe/Berlin")
    #expect(CalendarDate(date.textWithoutZone, timeZone: "Europe/Berlin") == date)
  }

  @Test(
    "A text of another form is not a date",
    arguments: [
      "", "2026-11-22", "2026-11-22T16:00", "26-11-22T16:00:00", "2026-11-22 16:00:00",
      "2026-11-22T16:00:0x", "2026-1-022T16:00:00", "2026-11-22T16:00:00Z", "+026-11-22T16:00:00",
    ])
  func otherText(_ text: String) {
    #expect(CalendarDate(text, timeZone: .utc) == nil)
  }

  @Test("A schedule after a duration is at most one second later than the duration")
  func after() throws {
    let start = Date.now
    let schedule = NotificationSchedule.after(.seconds(90))
    let earliest = CalendarDate(start.addingTimeInterval(90)).textWithoutZone
    let latest = CalendarDate(Date.now.addingTimeInterval(90)).textWithoutZone
    #expect((earliest...latest).contains(schedule.date.textWithoutZone))
    #expect(schedule.repeatInterval == nil)
  }

  @Test("The time zone of the machine is the name at the end of a link")
  func zone() {
    #expect(TimeZoneName(link: "/usr/share/zoneinfo/Europe/Berlin") == "Europe/Berlin")
    #expect(TimeZoneName(link: "../usr/share/zoneinfo/UTC") == .utc)
    #expect(TimeZoneName(link: "/etc/own") == nil)
  }
}

@Suite struct ApplicationErrorTests {
  @Test("A duration is a number of seconds with its fraction")
  func duration() {
    #expect(Duration.milliseconds(601_500).inSeconds == 601.5)
  }

  @Test("Each value of the interface has the same name in the library")
  func names() {
    for state in ApplicationState.allCases {
      #expect(ApplicationInterface.State(rawValue: state.rawValue).map { .init($0) } == state)
    }
    for reason in LaunchReason.allCases {
      #expect(
        ApplicationInterface.LaunchReason(rawValue: reason.rawValue).map { .init($0) } == reason)
    }
    for state in LocalNotification.State.allCases {
      #expect(
        ApplicationInterface.NotificationState(rawValue: state.rawValue).map { .init($0) }
          == state)
    }
    for authorization in LocationAuthorization.allCases {
      #expect(
        ApplicationInterface.LocationAuthorization(rawValue: authorization.rawValue)
          .map { .init($0) } == authorization)
    }
    for denial in LocationDenial.allCases {
      #expect(
        ApplicationInterface.LocationDenial(rawValue: denial.rawValue).map { .init($0) } == denial)
    }
    for accuracy in LocationAccuracy.allCases {
      #expect(accuracy.wireValue.rawValue == accuracy.rawValue)
    }
    for interval in NotificationSchedule.RepeatInterval.allCases {
      #expect(interval.wireValue.rawValue == interval.rawValue)
      #expect(.init(interval.wireValue) == interval)
    }
  }

  @Test("An error of the connection keeps its kind, and other errors keep their sentence")
  func connection() {
    #expect(ApplicationError(ConnectionError.noDaemon(path: "/a")) == .noDaemon(path: "/a"))
    #expect(
      ApplicationError(ConnectionError.notPermitted(path: "/a")) == .notPermitted(path: "/a"))
    #expect(ApplicationError(ConnectionError.closedByDaemon) == .disconnected)
    let timeout = ConnectionError.timedOut(method: "GetStatus", timeout: .seconds(25))
    #expect(ApplicationError(timeout) == .connectionFailed(timeout.description))
  }

  @Test("An error that this version does not know names itself")
  func unknown() {
    let error = ApplicationError(UnknownFailure(name: "org.example.New", parameters: ["a": 1]))
    #expect(error.description.contains("org.example.New"))
    #expect(!error.isTransient)
  }
}

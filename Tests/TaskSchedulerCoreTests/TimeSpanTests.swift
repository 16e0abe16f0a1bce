import TaskSchedulerCore
import Testing

@Suite("Time spans as systemd writes them")
struct TimeSpanTests {
  @Test(
    "The scheduler reads a time span as systemd does",
    arguments: [
      ("6s", .seconds(6)), ("10min", .seconds(600)), ("1min 30s", .seconds(90)),
      ("1min30s", .seconds(90)), ("500ms", .milliseconds(500)), ("2h", .seconds(7200)),
      ("90", .seconds(90)), ("0", .zero), ("1.5h", .seconds(5400)), (".5s", .milliseconds(500)),
      ("5 s", .seconds(5)), (" 5s\t", .seconds(5)), ("2 hr", .seconds(7200)),
      ("1week 2days", .seconds(777_600)), ("1M", .seconds(2_629_800)),
      ("1m", .seconds(60)), ("3us", .microseconds(3)), ("3µs", .microseconds(3)),
      ("7ns", .nanoseconds(7)), ("1y", .seconds(31_557_600)), ("0.000000001s", .nanoseconds(1)),
      ("1s 1s", .seconds(2)),
    ] as [(String, Duration)])
  func reads(_ text: String, _ expected: Duration) {
    #expect(TimeSpan.parse(text) == expected)
  }

  @Test(
    "The scheduler refuses a malformed, negative or too long time span",
    arguments: [
      "", " ", "6 parsecs", "-5s", "+5s", "infinity", "s", "5..5s", "5.", "1,5s", "1e3", "6S",
      "5s,", "5s;", "0x10", "١s", "9223372037s", "99999999999999999999", "300y", "0.1ns",
      "292y 1y", "5s\n", "5s\u{0}",
    ])
  func refuses(_ text: String) {
    #expect(TimeSpan.parse(text) == nil)
  }

  @Test(
    "A formatted time span has the largest units",
    arguments: [
      (.zero, "0s"), (.seconds(6), "6s"), (.seconds(90), "1min 30s"), (.seconds(600), "10min"),
      (.seconds(90_061), "1d 1h 1min 1s"), (.milliseconds(1500), "1s 500ms"),
      (.nanoseconds(1_002_003), "1ms 2us 3ns"), (.seconds(-5), "-5s"),
    ] as [(Duration, String)])
  func writes(_ span: Duration, _ expected: String) {
    #expect(TimeSpan.format(span) == expected)
  }

  @Test("A formatted time span has the original value when it is read")
  func roundTrip() {
    // Visits all magnitudes up to the longest span.
    var nanoseconds: Int64 = 1
    while nanoseconds < Int64.max / 7 {
      let span = Duration.nanoseconds(nanoseconds)
      #expect(TimeSpan.parse(TimeSpan.format(span)) == span)
      nanoseconds = nanoseconds * 7 + 3
    }
    let longest = Duration.nanoseconds(TimeSpan.nanosecondsMax)
    #expect(TimeSpan.parse(TimeSpan.format(longest)) == longest)
  }
}

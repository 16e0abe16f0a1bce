import TaskSchedulerWire
import Testing

@Suite("The nearest right name")
struct NearestNameTests {
  private static let names = ["CallbackTimeout", "TerminateTimeout", "log-level", "id"]

  @Test(
    "A mistyped name finds the right one",
    arguments: [
      ("CallbackTimeuot", "CallbackTimeout"), ("callback_timeout", "CallbackTimeout"),
      ("CalbackTimeout", "CallbackTimeout"), ("TerminationTimeout", "TerminateTimeout"),
      ("LogLevel", "log-level"), ("di", "id"), ("ID", "id"),
    ])
  func finds(_ mistyped: String, _ right: String) {
    #expect(nearestName(to: mistyped, among: Self.names) == right)
  }

  @Test("A name that is like none finds none", arguments: ["", "-", "colour", "x", "Timeout"])
  func findsNone(_ name: String) {
    #expect(nearestName(to: name, among: Self.names) == nil)
  }

  @Test("A name of a page's length finds none")
  func long() {
    let name = String(repeating: "a", count: 100_000)
    #expect(nearestName(to: name, among: Self.names + [name]) == nil)
  }
}

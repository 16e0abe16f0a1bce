import TaskSchedulerWire
import Testing

@Suite("The nearest correct name")
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

  @Test(
      """
      A name that is similar to none has no nearest name
      """, arguments: ["", "-", "colour", "x", "Timeout"])
  func findsNone(_ name: String) {
    #expect(nearestName(to: name, among: Self.names) == nil)
  }

  @Test("A long name finds one that differs by a few letters, wherever they are")
  func longNames() {
    let right = (0..<250).map { String($0 % 10) }.joined()
    for place in [0, 1, 124, 248, 249] {
      var letters = Array(right)
      letters[place] = "x"
      #expect(nearestName(to: String(letters), among: [right]) == right)
      letters.remove(at: place)
      #expect(nearestName(to: String(letters), among: [right]) == right)
      letters.insert(contentsOf: "xyz", at: place)
      #expect(nearestName(to: String(letters), among: [right]) == right)
      letters.insert(contentsOf: "abcdefgh", at: place)
      #expect(nearestName(to: String(letters), among: [right]) == nil)
    }
    var swapped = Array(right)
    swapped.swapAt(100, 101)
    #expect(nearestName(to: String(swapped), among: [right]) == right)
  }

  @Test("Two long names that have a third of their letters in common are not alike")
  func unlike() {
    let name = String(repeating: "a", count: 200) + String(repeating: "b", count: 50)
    let other = String(repeating: "a", count: 200) + String(repeating: "c", count: 50)
    #expect(nearestName(to: name, among: [other]) == nil)
  }

  @Test("Of more names than a user has, only the first 512 of about the right length are compared")
  func many() {
    let unlike = [String](repeating: "zzzzzzzzzz", count: 511)
    let short = [String](repeating: "zz", count: 1000)
    #expect(nearestName(to: "aplication", among: unlike + short + ["application"]) == "application")
    #expect(nearestName(to: "aplication", among: ["zzzzzzzzzz"] + unlike + ["application"]) == nil)
  }

  @Test("A name of a page's length has no nearest name")
  func long() {
    let name = String(repeating: "a", count: 100_000)
    #expect(nearestName(to: name, among: Self.names + [name]) == nil)
  }
}

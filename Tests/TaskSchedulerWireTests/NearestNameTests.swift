import TaskSchedulerWire
import Testing

@Suite("The nearest correct name")
struct NearestNameTests {
  private static let names = ["CallbackTimeout", "TerminateTimeout", "log-level", "id"]

  @Test(
    "The nearest name to a mistyped name is the right name",
    arguments: [
      ("CallbackTimeuot", "CallbackTimeout"), ("callback_timeout", "CallbackTimeout"),
      ("CalbackTimeout", "CallbackTimeout"), ("TerminationTimeout", "TerminateTimeout"),
      ("LogLevel", "log-level"), ("di", "id"), ("ID", "id"),
    ])
  func finds(_ mistyped: String, _ right: String) {
    #expect(nearestName(to: mistyped, among: Self.names) == right)
  }

  @Test(
    "A name that is not similar to any known name has no nearest name",
    arguments: ["", "-", "colour", "x", "Timeout"])
  func findsNone(_ name: String) {
    #expect(nearestName(to: name, among: Self.names) == nil)
  }

  @Test("The nearest name to a long name may differ in a few letters, at any place")
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

  @Test("Two long names that differ in a fifth of their letters are not similar")
  func unlike() {
    let name = String(repeating: "a", count: 200) + String(repeating: "b", count: 50)
    let other = String(repeating: "a", count: 200) + String(repeating: "c", count: 50)
    #expect(nearestName(to: name, among: [other]) == nil)
  }

  @Test("Only the first 512 names of similar length are compared")
  func many() {
    let unlike = [String](repeating: "zzzzzzzzzz", count: 511)
    let short = [String](repeating: "zz", count: 1000)
    #expect(nearestName(to: "aplication", among: unlike + short + ["application"]) == "application")
    #expect(nearestName(to: "aplication", among: ["zzzzzzzzzz"] + unlike + ["application"]) == nil)
  }

  @Test("A name of 100,000 letters has no nearest name")
  func long() {
    let name = String(repeating: "a", count: 100_000)
    #expect(nearestName(to: name, among: Self.names + [name]) == nil)
  }
}

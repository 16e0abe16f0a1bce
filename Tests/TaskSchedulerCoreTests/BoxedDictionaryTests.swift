import Testing

@testable import TaskSchedulerCore

@Suite("A dictionary of boxed values")
struct BoxedDictionaryTests {
  private let three: BoxedDictionary<Int, [String]> = {
    var dictionary = BoxedDictionary<Int, [String]>()
    for key in 1...3 { dictionary[key] = ["\(key)"] }
    return dictionary
  }()

  @Test("A copy does not change when its original changes")
  func copiesAreIndependent() throws {
    var changed = three
    let index = try #require(changed.index(forKey: 1))
    changed.values[index].append("in place")
    changed[2]?.append("by its key")
    changed[3] = nil
    changed[4] = ["new"]
    #expect(changed[1] == ["1", "in place"] && changed[2] == ["2", "by its key"])
    #expect(changed[3] == nil && changed[4] == ["new"] && changed.count == 3)
    #expect(three[1] == ["1"] && three[2] == ["2"] && three[3] == ["3"] && three[4] == nil)
  }

  @Test("A boxed dictionary has each key and its value once")
  func contents() {
    #expect(three.keys.sorted() == [1, 2, 3])
    #expect(three.values.map { $0 }.sorted { $0[0] < $1[0] } == [["1"], ["2"], ["3"]])
    #expect(three.map(\.key).sorted() == [1, 2, 3])
    var other = three
    #expect(other == three)
    #expect(other.updateValue(["x"], forKey: 2) == ["2"])
    #expect(other != three)
    #expect(other.removeValue(forKey: 2) == ["x"] && other.removeValue(forKey: 2) == nil)
    #expect(other.count == 2 && !other.isEmpty)
  }
}

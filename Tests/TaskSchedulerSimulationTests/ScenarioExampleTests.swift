import FoundationEssentials
import TaskSchedulerSimulation
import Testing

/// The examples, found from this file: Tests/TaskSchedulerSimulationTests/….
private let folder =
  #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
  .joined(separator: "/") + "/Examples/scenarios"

@Suite("The examples of scenarios")
struct ScenarioExampleTests {
  private static let names = ["killed", "memory", "music", "sleep", "upload", "voip"]

  private static func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(folder)/\(name).scenario", encoding: .utf8)
  }

  @Test("All examples are known here")
  func all() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: folder).sorted()
    #expect(files == Self.names.map { "\($0).scenario" })
  }

  @Test(
    "An example that is truncated at any byte is read, or refused with the place of the mistake",
    arguments: names)
  func truncated(_ name: String) throws {
    let bytes = try Array(Self.text(name).utf8)
    var readCount = 0
    for count in 0...bytes.count {
      let text = String(decoding: bytes[..<count], as: UTF8.self)
      let lineCount = text.split(separator: "\n", omittingEmptySubsequences: false).count
      do throws(ScenarioProblem) {
        let scenario = try Scenario(text)
        #expect(!ScenarioRunner.timeline(of: scenario).entries.isEmpty)
        readCount += 1
      } catch {
        #expect((1...lineCount).contains(error.line) && error.column >= 1, "\(error)")
        #expect(!error.message.isEmpty)
      }
    }
    #expect((1..<bytes.count).contains(readCount))
  }
}

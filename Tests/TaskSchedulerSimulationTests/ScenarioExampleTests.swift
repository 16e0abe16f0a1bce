import FoundationEssentials
import Testing

@testable import TaskSchedulerSimulation

private let package = #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
  .joined(separator: "/")
private let directory = package + "/Examples/scenarios"

@Suite("Example scenarios")
struct ScenarioExampleTests {
  private static let names = [
    "killed", "memory", "music", "places", "sleep", "upload", "voip",
  ]

  private static func text(_ name: String) throws -> String {
    try String(contentsOfFile: "\(directory)/\(name).scenario", encoding: .utf8)
  }

  @Test("The tests cover all example scenarios")
  func all() throws {
    let files = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    #expect(files == Self.names.map { "\($0).scenario" })
  }

  @Test(
    """
    A scenario that is truncated at any byte is valid, or refused with the place of the \
    mistake
    """,
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

  @Test("docs/scenarios.md describes each line, option and action")
  func documented() throws {
    let page = try String(contentsOfFile: package + "/docs/scenarios.md", encoding: .utf8)
    for name in ScenarioReader.names { #expect(page.contains("`\(name)"), "\(name)") }
    for name in ScenarioApplicationReader.names {
      #expect(page.contains("| `\(name)="), "\(name)")
    }
  }
}

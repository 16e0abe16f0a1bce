import FoundationEssentials
import Testing

/// Checks a rule of the library's public interface: each request has two forms.
@Suite struct InterfaceFormTests {
  /// Returns the names of the public methods, and whether they are asynchronous.
  private static func methods() throws -> [(name: String, isAsync: Bool)] {
    let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
      .dropLast(3).joined(separator: "/")
    let directory = root + "/Sources/TaskSchedulerClient/Application"
    return try FileManager.default.contentsOfDirectory(atPath: directory).flatMap { file in
      let text = try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8)
      return methods(in: text.split(separator: "\n"))
    }
  }

  private static func methods(in lines: [Substring]) -> [(name: String, isAsync: Bool)] {
    lines.indices.compactMap { index in
      let line = lines[index]
      guard line.hasPrefix("  public "), let start = line.firstRange(of: "func ") else {
        return nil
      }
      let name = line[start.upperBound...].prefix { $0.isLetter }
      let end = lines[index...].firstIndex { $0.hasSuffix("{") } ?? index
      let signature = lines[index...end].joined(separator: " ")
      return (String(name), signature.contains(") async throws"))
    }
  }

  @Test("Each asynchronous request has a blocking form with the suffix AndWait")
  func forms() throws {
    let methods = try Self.methods()
    let asynchronous = Set(methods.filter(\.isAsync).map(\.name))
    let blocking = Set(methods.filter { !$0.isAsync }.map(\.name))
    #expect(asynchronous.contains("register") && asynchronous.contains("beginBackgroundTask"))
    #expect(asynchronous.count >= 15)
    #expect(Set(asynchronous.map { $0 + "AndWait" }) == blocking.filter { $0.hasSuffix("AndWait") })
  }
}

import FoundationEssentials
import Testing

@Suite("The Swift examples of the documents")
struct DocumentExampleTests {
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/")

  /// Returns the lines of code, without indentation. Omits imports and comments.
  private static func code(_ lines: some Sequence<Substring>) -> [Substring] {
    lines.map { $0.drop { $0 == " " } }
      .filter { !$0.isEmpty && !$0.hasPrefix("import ") && !$0.hasPrefix("//") }
  }

  /// Returns the examples of a document, except those for `Package.swift`.
  private static func examples(in text: String) -> [[Substring]] {
    text.split(separator: "\n```").map { $0.split(separator: "\n") }
      .filter { $0.first == "swift" && $0.dropFirst().first != "// Package.swift" }
      .map { code($0.dropFirst()) }
  }

  /// Returns the sections of DocumentExamples.swift. The key of each section is the comment with
  /// which it begins.
  private static func sections() throws -> [String: [Substring]] {
    let path = root + "/Tests/TaskSchedulerClientTests/DocumentExamples.swift"
    var sections: [String: [Substring]] = [:]
    var name = ""
    for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
      let text = line.drop { $0 == " " }
      if text.hasPrefix("// "), text.contains(".md ") { name = String(text.dropFirst(3)) }
      sections[name, default: []].append(line)
    }
    return sections.mapValues { code($0) }
  }

  @Test("Each Swift example of a document is compiled with these tests")
  func compiled() throws {
    let catalog = "Sources/TaskSchedulerClient/Documentation.docc"
    let pages = try ["docs", catalog].flatMap { directory in
      try FileManager.default.contentsOfDirectory(atPath: "\(Self.root)/\(directory)")
        .filter { $0.hasSuffix(".md") }.map { "\(directory)/\($0)" }
    }
    var sections = try Self.sections()
    sections[""] = nil
    for page in ["README.md"] + pages {
      let text = try String(contentsOfFile: "\(Self.root)/\(page)", encoding: .utf8)
      let short = page.hasPrefix(catalog) ? String(page.dropFirst(catalog.count + 1)) : page
      for (index, example) in Self.examples(in: text).enumerated() {
        let name = "\(short) \(index + 1)"
        var compiled = (sections.removeValue(forKey: name) ?? [])[...]
        for line in example {
          let found = compiled.firstIndex(of: line)
          #expect(found != nil, "\(name): \(line)")
          compiled = compiled[(found.map { $0 + 1 } ?? compiled.endIndex)...]
        }
      }
    }
    #expect(sections.isEmpty, "sections without an example: \(sections.keys.sorted())")
  }
}

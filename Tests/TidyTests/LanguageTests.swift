import FoundationEssentials
import Testing

@Suite("The rules for texts and for the length of functions")
struct LanguageTests {
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/")

  /// Returns the text files below a path, as paths from the package's root.
  private static func files(below path: String) throws -> [String] {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: root + "/" + path, isDirectory: &isDirectory)
    else { return [] }
    guard isDirectory else { return [path] }
    return try FileManager.default.contentsOfDirectory(atPath: root + "/" + path).sorted()
      .filter { !$0.hasPrefix(".") }.flatMap { try files(below: path + "/" + $0) }
  }

  @Test("No text contains an avoided word, and no function is too long")
  func texts() throws {
    let paths = Set(try (["Sources", "Tests"] + LanguageRules.places).flatMap(Self.files(below:)))
    for path in paths.sorted() {
      guard let text = try? String(contentsOfFile: Self.root + "/" + path, encoding: .utf8) else {
        continue
      }
      for violation in LanguageRules.violations(in: path, text: text) {
        Issue.record("\(violation)")
      }
    }
  }

  @Test("Every place to which the word list applies exists", arguments: LanguageRules.places)
  func placeExists(_ place: String) throws {
    #expect(try !Self.files(below: place).isEmpty)
  }

  @Test("The word list applies to every target")
  func targets() throws {
    for target in try FileManager.default.contentsOfDirectory(atPath: Self.root + "/Sources") {
      #expect(LanguageRules.places.contains("Sources/" + target))
    }
  }

  @Test(
    "An avoided word is found in comments, strings and units",
    arguments: [
      ("taskctl/A.swift", "/// Whoever reads this."), ("taskctl/A.swift", "let a = \"a Folder\""),
      ("taskctl/A.swift", "  // is let run, later"), ("taskctl/A.swift", "a(\"\\(b) torn\")"),
    ])
  func found(_ path: String, _ line: String) {
    #expect(LanguageRules.violations(in: "Sources/" + path, text: line).count == 1)
    #expect(LanguageRules.violations(in: "systemd/catalog/a", text: line).count == 1)
    #expect(LanguageRules.violations(in: "Elsewhere/A.swift", text: line).isEmpty)
  }

  @Test(
    "An identifier or a part of another word is not an avoided word",
    arguments: [
      "for folder in folders {", "let a = \"\\(name(of: folder))/x\"",
      "// BackgroundProcessorShare",
      "// the torna", "let whoever = 1",
    ])
  func ignored(_ line: String) {
    #expect(LanguageRules.violations(in: "Sources/taskctl/A.swift", text: line).isEmpty)
  }

  @Test("A function of 70 lines is accepted, and a function of 71 lines is reported")
  func longFunction() {
    func text(_ count: Int) -> String {
      "  func a() {\n" + String(repeating: "    b()\n", count: count - 2) + "  }\n"
    }
    #expect(LanguageRules.violations(in: "Sources/A.swift", text: text(70)).isEmpty)
    #expect(LanguageRules.violations(in: "Sources/A.swift", text: text(71)).count == 1)
    let requirement = "  func c()\n"
    #expect(LanguageRules.violations(in: "Sources/A.swift", text: requirement + text(70)).isEmpty)
  }
}

import FoundationEssentials
import Glibc
import LinuxSystem
import TestSupport
import Testing

@Suite("The installed documents")
struct DocumentTests {
  private let installed: InstalledDocuments

  init() throws { installed = try InstalledDocuments.shared.get() }

  /// Returns the anchors of a document: the explicit anchors, and those that GitHub derives from
  /// the headings.
  private func anchors(of text: String) -> [String] {
    var anchors: [String] = []
    var isCode = false
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") { isCode.toggle() }
      if isCode { continue }
      if line.hasPrefix("#"), let title = line.split(separator: " ", maxSplits: 1).last {
        let kept = title.lowercased().filter {
          $0.isLetter || $0.isNumber || "-_ ".contains($0)
        }
        anchors.append(kept.replacing(" ", with: "-"))
      }
      anchors += explicitAnchors(of: line)
    }
    return anchors
  }

  private func explicitAnchors(of line: Substring) -> [String] {
    let mark = "<a id=\""
    return line.split(separator: mark, omittingEmptySubsequences: false).dropFirst()
      .map { String($0.prefix { $0 != "\"" }) }
  }

  /// Returns the targets of the links in a Markdown document.
  private func links(in text: String) -> [String] {
    var isCode = false
    return text.split(separator: "\n").flatMap { line -> [String] in
      if line.hasPrefix("```") { isCode.toggle() }
      if isCode || line.hasPrefix("    ") { return [] }
      return line.split(separator: "](").dropFirst().map { String($0.prefix { $0 != ")" }) }
    }
  }

  @Test("Every link of a document leads to an installed file and to an existing anchor")
  func links() throws {
    let documents = try installed.documents()
    #expect(documents.contains("README.md") && documents.contains("docs/contract.md"))
    for document in documents {
      let directory = document.split(separator: "/").dropLast().joined(separator: "/")
      for link in links(in: try installed.text(of: document)) {
        if link.hasPrefix("https://") { continue }
        let parts = link.split(separator: "#", maxSplits: 1, omittingEmptySubsequences: false)
        let path = parts[0].isEmpty ? document : resolved(String(parts[0]), in: directory)
        #expect(access("\(installed.papers)/\(path)", F_OK) == 0, "\(document): \(link)")
        guard parts.count == 2, documents.contains(path) else { continue }
        let anchors = anchors(of: try installed.text(of: path))
        #expect(anchors.contains(String(parts[1])), "\(document): \(link)")
      }
    }
  }

  /// Converts the path of a link in a file of `directory` to a path relative to the directory of
  /// all documents.
  private func resolved(_ path: String, in directory: String) -> String {
    var parts = directory.split(separator: "/").map(String.init)
    for part in path.split(separator: "/").map(String.init) {
      if part == ".." { _ = parts.popLast() } else { parts.append(part) }
    }
    return parts.joined(separator: "/")
  }

  @Test("Each promise of the contract has its own anchor, which its text shows")
  func anchors() throws {
    let text = try installed.text(of: "docs/contract.md")
    var found: Set<String> = []
    for line in text.split(separator: "\n") where line.contains("<a id=\"") {
      let anchor = explicitAnchors(of: line)[0]
      #expect(found.insert(anchor).inserted, "\(anchor)")
      #expect(line.contains("`\(anchor)`"), "\(anchor)")
    }
    #expect(found.count > 50)
  }

  @Test("The documentation of a unit is installed")
  func units() throws {
    let names = Set(installed.pages.map { "man:\($0.name)(\($0.section))" })
    var count = 0
    for directory in ["usr/lib/systemd/system", "usr/lib/systemd/user", "usr/lib/systemd/catalog"] {
      for file in try Directory.names(path: "\(installed.root)/\(directory)") {
        let text = try String(
          contentsOfFile: "\(installed.root)/\(directory)/\(file)", encoding: .utf8)
        for line in text.split(separator: "\n") where line.hasPrefix("Documentation") {
          for address in line.split(whereSeparator: { " =".contains($0) }).dropFirst() {
            count += 1
            if address.hasPrefix("man:") {
              #expect(names.contains(String(address)), "\(file): \(address)")
            } else {
              let path = address.dropFirst("file:".count)
              #expect(address.hasPrefix("file:/"), "\(file): \(address)")
              #expect(access(installed.root + path, F_OK) == 0, "\(file): \(address)")
            }
          }
        }
      }
    }
    #expect(count > 6)
  }
}

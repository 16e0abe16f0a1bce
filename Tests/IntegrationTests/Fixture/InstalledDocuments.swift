import FoundationEssentials
import LinuxSystem
import TestSupport

/// The documents and manual pages, as `make install` writes them.
struct InstalledDocuments {
  /// A page of a manual.
  struct Page {
    let name: String
    let section: String
    let path: String
    let text: String

    var lines: [Substring] { text.split(separator: "\n", omittingEmptySubsequences: false) }

    /// The arguments of each line that begins with the given macro, such as `.Xr`.
    func arguments(of macro: String) -> [[Substring]] {
      lines.filter { $0.hasPrefix(macro + " ") }.map { line in
        Array(line.split(separator: " ").dropFirst())
      }
    }
  }

  /// All tests share one installation, because no test changes it.
  static let shared = Result { try InstalledDocuments() }

  private let tree = TemporaryDirectory()
  let pages: [Page]

  var papers: String { tree.file("usr/share/doc/taskschedd") }
  var root: String { tree.path }
  var manuals: String { tree.file("usr/share/man") }

  private init() throws {
    let make = try TestProcess(
      "/usr/bin/make",
      [
        "make", "-s", "-C", Programs.root, "install", "BUILT=\(Programs.folder)",
        "DESTDIR=\(tree.path)", "MANUALS=\(tree.file("manuals"))",
      ])
    let text = try make.remainingText()
    guard try make.waitForExit() == .exited(code: 0) else {
      throw InstallationFailure(text: text)
    }
    var pages: [Page] = []
    for section in ["1", "5", "8"] {
      let folder = tree.file("usr/share/man/man\(section)")
      for file in try Directory.names(path: folder) where file.hasSuffix(".\(section)") {
        let path = "\(folder)/\(file)"
        pages.append(
          Page(
            name: String(file.dropLast(2)), section: section, path: path,
            text: try String(contentsOfFile: path, encoding: .utf8)))
      }
    }
    self.pages = pages
  }

  func page(_ name: String) throws -> Page {
    guard let page = pages.first(where: { $0.name == name }) else {
      throw InstallationFailure(text: "there is no page \(name)")
    }
    return page
  }

  /// Returns the paths of all installed documents, relative to their directory.
  func documents(in folder: String = "") throws -> [String] {
    try Directory.names(path: papers + "/" + folder).sorted().flatMap { name in
      let path = folder.isEmpty ? name : "\(folder)/\(name)"
      if name.hasSuffix(".md") { return [path] }
      return name.contains(".") ? [] : (try? documents(in: path)) ?? []
    }
  }

  func text(of document: String) throws -> String {
    try String(contentsOfFile: papers + "/" + document, encoding: .utf8)
  }

  /// Runs a program to its end, and returns its standard output and standard error.
  static func run(_ program: String, _ arguments: [String]) throws -> String {
    try TestProcess("/bin/sh", ["sh", "-c", "exec \"$0\" \"$@\" 2>&1", program] + arguments)
      .remainingText()
  }
}

/// The reason why the installation failed, or why a page is missing.
struct InstallationFailure: Error, CustomStringConvertible {
  let text: String
  var description: String { text }
}

/// A command as the argument parser describes it to programs (`--experimental-dump-help`).
struct CommandDescription: Decodable {
  struct Argument: Decodable {
    struct Name: Decodable {
      var kind: String
      var name: String
    }

    var kind: String
    var shouldDisplay: Bool
    var names: [Name]?
  }

  private struct Whole: Decodable {
    var command: CommandDescription
  }

  var commandName: String
  var shouldDisplay: Bool
  var aliases: [String]?
  var subcommands: [CommandDescription]?
  var arguments: [Argument]?

  /// Returns the description that a program prints of itself.
  static func of(_ program: String) throws -> CommandDescription {
    let text = try InstalledDocuments.run(
      Programs.path(of: program), ["--experimental-dump-help"])
    return try JSONDecoder().decode(Whole.self, from: Data(text.utf8)).command
  }

  /// All visible options, as a user types them, including the options of subcommands.
  var options: Set<String> {
    let own = (arguments ?? []).filter { $0.kind != "positional" && $0.shouldDisplay }
      .flatMap { $0.names ?? [] }
      .map { $0.kind == "long" ? "--\($0.name)" : "-\($0.name)" }
    return (subcommands ?? []).reduce(into: Set(own)) { $0.formUnion($1.options) }
  }
}

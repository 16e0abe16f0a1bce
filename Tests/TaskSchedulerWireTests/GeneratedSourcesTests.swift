import FoundationEssentials
import TestSupport
import Testing

@testable import TaskSchedulerWire
@testable import generate_interfaces

@Suite("The Swift types of the interfaces are generated")
struct GeneratedSourcesTests {
  /// The package's directory, three levels above this file.
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/")

  @Test("The generated files are those that 'make interfaces' writes")
  func isUpToDate() throws {
    let outdated = try GeneratedSources(root: Self.root).outdated()
    #expect(outdated.isEmpty, "run 'make interfaces'")
  }

  @Test("A file that was edited, is missing or belongs to no declaration is outdated")
  func outdated() throws {
    let directory = TemporaryDirectory()
    let interfaces = directory.file(GeneratedSources.interfaces)
    try FileManager.default.createDirectory(
      atPath: interfaces, withIntermediateDirectories: true)
    let text = "# I.\ninterface a.b\n# T.\ntype T (f: int)\n# M.\nmethod M() -> (t: T)\n"
    try Data(text.utf8).write(to: URL(filePath: interfaces + "/a.b.varlink"))
    let sources = GeneratedSources(root: directory.file(""))
    try sources.write()
    #expect(try sources.outdated().isEmpty)

    let generated = GeneratedSources.directory + "/BInterface/BInterface"
    let edited = URL(filePath: directory.file(generated + "+T.swift"))
    let written = try Data(contentsOf: edited)
    try (written + Data("\n".utf8)).write(to: edited)
    try FileManager.default.removeItem(atPath: directory.file(generated + ".swift"))
    try written.write(to: URL(filePath: directory.file(generated + "+Old.swift")))
    #expect(try sources.outdated() == ["+Old", "+T", ""].map { generated + $0 + ".swift" })

    try sources.write()
    #expect(try sources.outdated().isEmpty)
  }

  private func files(_ text: String) throws -> [String: String] {
    try InterfaceFiles([try InterfaceDescription(text: text)]).texts
  }

  @Test("A comment becomes documentation with wrapped paragraphs and with lists")
  func documentation() throws {
    let word = String(repeating: "x", count: 40)
    let files = try files(
      """
      # I.
      interface a.b
      # \(word) \(word)
      # \(word)
      #   one, two    what they are,
      #               and more
      #   three
      # After.
      type T (f: int)
      """)
    let text = try #require(files["BInterface/BInterface+T.swift"])
    #expect(
      text.contains(
        """
          /// \(word) \(word)
          /// \(word)
          /// - `one`, `two`: what they are, and more
          /// - `three`
          ///
          /// After.
          public struct T: WireStructure {
        """))
  }

  @Test("A line of the methods or of the names is broken if it is longer than 100 columns")
  func longNames() throws {
    let name = String(repeating: "Long", count: 12)
    let files = try files("# I.\ninterface a.b\n# M.\nmethod \(name)() -> ()\n")
    let text = try #require(files["BInterface/BInterface.swift"])
    let member = "l" + name.dropFirst()
    #expect(
      text.contains(
        """
            func \(member)(
              _ input: \(name).Input, _ caller: Caller
            ) throws

        """))
    #expect(
      text.contains(
        """
              try methods.\(member)(
                call.decode(\(name).Input.self), caller
              )

        """))
    #expect(
      text.contains(
        """
            case \(member) =
              "a.b.\(name)"

        """))
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 100 })
  }

  @Test("A type that an earlier interface declares in the same way is an alias of the earlier type")
  func sharedTypes() throws {
    let shared = "# S.\ntype S (a, b)\n"
    let first = try InterfaceDescription(text: "# I.\ninterface a.b\n" + shared)
    let second = try InterfaceDescription(
      text: "# I.\ninterface a.c\n" + shared + "# Other.\ntype Other (s: S)\n")
    let text = try InterfaceFiles([first, second]).texts["CInterface/CInterface+Values.swift"]
    #expect(text?.contains("public typealias S = BInterface.S") == true)
  }

  @Test(
    "The error for a declaration without a Swift type or a comment has the name",
    arguments: [
      ("# T.\ntype T (f: (a: int))", "'f'"), ("# T.\ntype T (f: [string]int)", "'f'"),
      ("# T.\ntype T (f: []?int)", "'f'"), ("# T.\ntype T (someFileDescriptor: string)", "'some"),
      ("type T (f: int)", "'T'"), ("method M() -> ()", "'M'"), ("error E ()", "'E'"),
    ])
  func refused(_ declaration: String, _ name: String) throws {
    let error = #expect(throws: GeneratorError.self) {
      try files("# I.\ninterface a.b\n" + declaration)
    }
    #expect(error?.description.contains(name) == true)
  }
}

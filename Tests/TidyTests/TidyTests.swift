import FoundationEssentials
import Testing

@Suite("The sources")
struct TidyTests {
  /// The package's root: this file is Tests/TidyTests/TidyTests.swift.
  private static let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
    .dropLast(3).joined(separator: "/")

  /// Returns the paths of the project's sources, relative to the root.
  private static func files() throws -> [String] {
    var files = ["Package.swift"]
    for folder in ["Sources", "Tests", "Chaos", "Examples", "Benchmarks", "Fuzz"] {
      files += try paths(below: folder)
    }
    return files.filter { name in [".swift", ".c", ".h"].contains { name.hasSuffix($0) } }
  }

  private static func paths(below folder: String) throws -> [String] {
    var isDirectory = false
    guard FileManager.default.fileExists(atPath: root + "/" + folder, isDirectory: &isDirectory)
    else { return [] }
    guard isDirectory else { return [folder] }
    return try FileManager.default.contentsOfDirectory(atPath: root + "/" + folder).sorted()
      .filter { !$0.hasPrefix(".") }.flatMap { try paths(below: folder + "/" + $0) }
  }

  @Test("No source file breaks a rule")
  func sources() throws {
    var violations: [SourceRules.Violation] = []
    for path in try Self.files() {
      let text = try String(contentsOfFile: Self.root + "/" + path, encoding: .utf8)
      violations += SourceRules.violations(in: path, text: text)
    }
    for violation in violations { Issue.record("\(violation)") }
  }

  @Test("The tests find the sources")
  func found() throws {
    let files = try Self.files()
    #expect(files.contains("Sources/TaskSchedulerCore/Scheduler/Scheduler.swift"))
    #expect(files.contains("Tests/TidyTests/TidyTests.swift"))
  }

  @Test("Every target with sources has a row in the table of imports")
  func targets() throws {
    let targets = try Self.files().filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }
      .map { String($0.split(separator: "/")[1]) }
    let unknown = Set(targets).subtracting(SourceRules.imports.keys)
    #expect(unknown.isEmpty)
  }
}

@Suite("A violation of a rule for sources is reported")
struct SourceRulesTests {
  private let core = "Sources/TaskSchedulerCore/Sample.swift"

  private func rules(_ text: String, in path: String) -> [String] {
    SourceRules.violations(in: path, text: text).map(\.rule)
  }

  @Test(
    "An import of a target that is not above the importing target is reported",
    arguments: [
      ("TaskSchedulerCore", "Glibc"), ("TaskSchedulerCore", "TaskSchedulerWire"),
      ("TaskSchedulerCore", "FoundationEssentials"), ("TaskSchedulerWire", "LinuxSystem"),
      ("LinuxSystem", "TaskSchedulerCore"), ("TaskSchedulerClient", "TaskSchedulerDaemon"),
      ("TaskSchedulerDaemon", "TaskSchedulerClient"), ("taskctl", "TaskSchedulerDaemon"),
      ("NewTarget", "Glibc"),
    ])
  func imports(_ target: String, _ module: String) {
    for form in ["import \(module)", "public import \(module)", "@testable import \(module)"] {
      let found = rules(form + "\n", in: "Sources/\(target)/Sample.swift")
      #expect(found == ["\(target) may not import \(module)"])
    }
    let found = rules("import struct \(module).Name\n", in: "Sources/\(target)/Sample.swift")
    #expect(found == ["\(target) may not import \(module)"])
  }

  @Test("An import of SQLite outside the layer over SQLite is reported")
  func database() {
    let folder = "Sources/TaskSchedulerDaemon"
    #expect(rules("import CSQLite\n", in: "\(folder)/Storage/Database.swift").isEmpty)
    #expect(rules("import CSQLite\n", in: "\(folder)/Notifications/A.swift").count == 1)
    #expect(rules("import CSQLite\n", in: "\(folder)/Daemon.swift").count == 1)
  }

  @Test(
    "An import of full Foundation is reported",
    arguments: ["Sources/taskctl/A.swift", "Tests/A.swift"])
  func foundation(_ path: String) {
    #expect(rules("import Foundation\n", in: path).count == 1)
    #expect(rules("import FoundationEssentials\n", in: path).isEmpty)
  }

  @Test(
    """
    The use of a clock, of randomness or of the environment in the core or its simulation is \
    reported
    """,
    arguments: [
      "let at = ContinuousClock.now()", "Int.random(in: 0..<2)", "Date()", "sleep(1)",
      "getenv(\"HOME\")", "Task { }",
    ])
  func forbiddenWords(_ line: String) {
    #expect(rules("  \(line)\n", in: core).count == 1)
    #expect(rules("  \(line)\n", in: "Sources/TaskSchedulerSimulation/A.swift").count == 1)
    #expect(rules("  \(line)\n", in: "Sources/TaskSchedulerDaemon/A.swift").isEmpty)
    #expect(rules("  // \(line)\n", in: core).isEmpty, "a comment may contain the words")
  }

  @Test("A longer name that ends with a forbidden word is accepted")
  func longerNames() {
    #expect(rules("var newest: BackgroundTask {\n", in: core).isEmpty)
  }

  @Test(
    "A switch over an enum with default: or case _ is reported",
    arguments: [".done", "(_, .done)", "(.done, let other)", "let .began(task)"])
  func defaults(_ pattern: String) {
    for rest in ["default:", "case _:"] {
      let text = "switch a {\n  case \(pattern):\n    f()\n  \(rest) break\n  }\n"
      #expect(rules("  " + text, in: "Sources/TaskSchedulerDaemon/A.swift").count == 1)
    }
  }

  @Test("A switch over numbers or texts may have default:", arguments: ["1", "\"a\"", "EAGAIN"])
  func defaultOfValues(_ pattern: String) {
    let text = "  switch a {\n  case \(pattern): f(.done)\n  default: break\n  }\n"
    #expect(rules(text, in: core).isEmpty)
  }

  @Test("A line of more than 100 columns and a file of more than 500 lines are reported")
  func sizes() {
    let longest = String(repeating: "x", count: 100)
    #expect(rules(longest + "\n", in: core).isEmpty)
    #expect(rules(longest + "x\n", in: "Sources/CLinux/a.c").count == 1)
    #expect(rules("< {" + longest + "}\n", in: core).count == 1)
    #expect(
      rules("< {" + longest + "}\n", in: "Tests/A.swift").isEmpty,
      "a transcript may have longer lines")
    #expect(rules(String(repeating: "x\n", count: 500), in: core).isEmpty)
    #expect(rules(String(repeating: "x\n", count: 501), in: core).count == 1)
  }

  @Test("A mark of unfinished work is reported", arguments: ["TO" + "DO", "FIX" + "ME"])
  func unfinished(_ mark: String) {
    #expect(rules("// \(mark): later\n", in: core).count == 1)
    #expect(rules("/* \(mark) */\n", in: "Sources/CLinux/a.c").count == 1)
  }

  @Test(
    "A public declaration without a doc comment is reported",
    arguments: [
      "public struct A {}", "public enum A {}", "public final class A {}", "open class A {}",
      "public protocol A {}", "public func a() {}", "public static func a() {}",
      "public mutating func a() {}", "public typealias A = Int",
    ])
  func documentation(_ line: String) {
    #expect(rules(line + "\n", in: core) == ["public declaration without a doc comment"])
    #expect(rules("/// Says what.\n" + line + "\n", in: core).isEmpty)
    #expect(rules("/// Says what.\n@inlinable\n" + line + "\n", in: core).isEmpty)
    #expect(rules(line + "\n", in: "Tests/A.swift").isEmpty)
  }

  @Test(
    "A declaration that a protocol requires and documents needs no doc comment",
    arguments: [
      "public func encode(to encoder: any Encoder) throws {}", "public func hash(into: Int) {}",
      "public static func < (lhs: A, rhs: A) -> Bool { true }", "public init() {}",
      "public extension A {}", "public struct Input: Codable {",
    ])
  func witnesses(_ line: String) {
    #expect(rules(line + "\n", in: core).isEmpty)
  }
}

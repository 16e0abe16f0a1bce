import FoundationEssentials
import Testing

@Suite("The rules of the project, on the present sources")
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
    var isFolder = false
    guard FileManager.default.fileExists(atPath: root + "/" + folder, isDirectory: &isFolder)
    else { return [] }
    guard isFolder else { return [folder] }
    return try FileManager.default.contentsOfDirectory(atPath: root + "/" + folder).sorted()
      .filter { !$0.hasPrefix(".") }.flatMap { try paths(below: folder + "/" + $0) }
  }

  @Test("no file breaks a rule")
  func sources() throws {
    var breaches: [HouseRules.Breach] = []
    for path in try Self.files() {
      let text = try String(contentsOfFile: Self.root + "/" + path, encoding: .utf8)
      breaches += HouseRules.breaches(in: path, text: text)
    }
    for breach in breaches { Issue.record("\(breach)") }
  }

  @Test("the sources are found")
  func found() throws {
    let files = try Self.files()
    #expect(files.contains("Sources/TaskSchedulerCore/Scheduler/Scheduler.swift"))
    #expect(files.contains("Tests/TidyTests/TidyTests.swift"))
  }

  @Test("every room that has sources has a row in the table of imports")
  func rooms() throws {
    let rooms = try Self.files().filter { $0.hasPrefix("Sources/") && $0.hasSuffix(".swift") }
      .map { String($0.split(separator: "/")[1]) }
    let unknown = Set(rooms).subtracting(HouseRules.imports.keys)
    #expect(unknown.isEmpty)
  }
}

@Suite("the rules can fail")
struct HouseRulesTests {
  private let core = "Sources/TaskSchedulerCore/Sample.swift"

  private func rules(_ text: String, in path: String) -> [String] {
    HouseRules.breaches(in: path, text: text).map(\.rule)
  }

  @Test(
    "A target imports only targets above it",
    arguments: [
      ("TaskSchedulerCore", "Glibc"), ("TaskSchedulerCore", "TaskSchedulerWire"),
      ("TaskSchedulerCore", "FoundationEssentials"), ("TaskSchedulerWire", "LinuxSystem"),
      ("LinuxSystem", "TaskSchedulerCore"), ("TaskSchedulerClient", "TaskSchedulerDaemon"),
      ("TaskSchedulerDaemon", "TaskSchedulerClient"), ("taskctl", "TaskSchedulerDaemon"),
      ("NewRoom", "Glibc"),
    ])
  func imports(_ room: String, _ module: String) {
    for form in ["import \(module)", "public import \(module)", "@testable import \(module)"] {
      let found = rules(form + "\n", in: "Sources/\(room)/Sample.swift")
      #expect(found == ["\(room) may not import \(module)"])
    }
    let found = rules("import struct \(module).Name\n", in: "Sources/\(room)/Sample.swift")
    #expect(found == ["\(room) may not import \(module)"])
  }

  @Test("Only the layer over SQLite imports SQLite")
  func database() {
    let folder = "Sources/TaskSchedulerDaemon"
    #expect(rules("import CSQLite\n", in: "\(folder)/Storage/Database.swift").isEmpty)
    #expect(rules("import CSQLite\n", in: "\(folder)/Notifications/A.swift").count == 1)
    #expect(rules("import CSQLite\n", in: "\(folder)/Daemon.swift").count == 1)
  }

  @Test(
    "full Foundation is imported nowhere", arguments: ["Sources/taskctl/A.swift", "Tests/A.swift"])
  func foundation(_ path: String) {
    #expect(rules("import Foundation\n", in: path).count == 1)
    #expect(rules("import FoundationEssentials\n", in: path).isEmpty)
  }

  @Test(
    "the core and its simulation mention no clock, chance or environment",
    arguments: [
      "let at = ContinuousClock.now()", "Int.random(in: 0..<2)", "Date()", "sleep(1)",
      "getenv(\"HOME\")", "Task { }",
    ])
  func forbiddenWords(_ line: String) {
    #expect(rules("  \(line)\n", in: core).count == 1)
    #expect(rules("  \(line)\n", in: "Sources/TaskSchedulerSimulation/A.swift").count == 1)
    #expect(rules("  \(line)\n", in: "Sources/TaskSchedulerDaemon/A.swift").isEmpty)
    #expect(rules("  // \(line)\n", in: core).isEmpty, "a comment may")
  }

  @Test("a longer name that ends in a forbidden word is none")
  func longerNames() {
    #expect(rules("var newest: BackgroundTask {\n", in: core).isEmpty)
  }

  @Test(
    "A switch over an enum has neither default: nor case _",
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

  @Test("a line has 100 columns at most, a file 500 lines")
  func sizes() {
    let longest = String(repeating: "x", count: 100)
    #expect(rules(longest + "\n", in: core).isEmpty)
    #expect(rules(longest + "x\n", in: "Sources/CLinux/a.c").count == 1)
    #expect(rules("< {" + longest + "}\n", in: core).count == 1)
    #expect(rules("< {" + longest + "}\n", in: "Tests/A.swift").isEmpty, "a transcript may")
    #expect(rules(String(repeating: "x\n", count: 500), in: core).isEmpty)
    #expect(rules(String(repeating: "x\n", count: 501), in: core).count == 1)
  }

  @Test("nothing unfinished is left", arguments: ["TO" + "DO", "FIX" + "ME"])
  func unfinished(_ mark: String) {
    #expect(rules("// \(mark): later\n", in: core).count == 1)
    #expect(rules("/* \(mark) */\n", in: "Sources/CLinux/a.c").count == 1)
  }

  @Test(
    "what is public has a doc comment",
    arguments: [
      "public struct A {}", "public enum A {}", "public final class A {}", "open class A {}",
      "public protocol A {}", "public func a() {}", "public static func a() {}",
      "public mutating func a() {}", "public typealias A = Int",
    ])
  func documentation(_ line: String) {
    #expect(rules(line + "\n", in: core) == ["public, and without a doc comment"])
    #expect(rules("/// Says what.\n" + line + "\n", in: core).isEmpty)
    #expect(rules("/// Says what.\n@inlinable\n" + line + "\n", in: core).isEmpty)
    #expect(rules(line + "\n", in: "Tests/A.swift").isEmpty)
  }

  @Test(
    "what a protocol asks for needs none",
    arguments: [
      "public func encode(to encoder: any Encoder) throws {}", "public func hash(into: Int) {}",
      "public static func < (lhs: A, rhs: A) -> Bool { true }", "public init() {}",
      "public extension A {}", "public struct Input: Codable {",
    ])
  func witnesses(_ line: String) {
    #expect(rules(line + "\n", in: core).isEmpty)
  }
}

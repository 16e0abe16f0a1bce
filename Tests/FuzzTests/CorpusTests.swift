import FoundationEssentials
import FuzzTargets
import Testing

/// An input of the fuzzer that is kept in the repository.
struct CorpusInput: Sendable, CustomTestStringConvertible {
  let target: FuzzTarget
  let path: String

  var testDescription: String { path }

  /// The directory `Fuzz`, from the path of this file.
  private static let fuzz =
    #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
    .joined(separator: "/") + "/Fuzz"

  static func names(in folder: String) -> [String] {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "\(fuzz)/\(folder)")) ?? []
    return names.filter { !$0.hasPrefix(".") }.sorted()
  }

  /// Returns the inputs of all targets in the directory `Corpus` or `Findings`. The project's
  /// interface descriptions are also inputs of the corpus.
  static func all(in folder: String) -> [CorpusInput] {
    FuzzTarget.all.flatMap { target in
      var folders = ["\(folder)/\(target.name)"]
      if folders == ["Corpus/interface"] { folders.append(interfaces) }
      return folders.flatMap { folder in
        names(in: folder).map { CorpusInput(target: target, path: "\(folder)/\($0)") }
      }
    }
  }

  private static let interfaces = "../Sources/TaskSchedulerWire/Interfaces"

  func run() throws {
    let bytes = try Data(contentsOf: URL(filePath: "\(Self.fuzz)/\(path)"))
    try bytes.withUnsafeBytes { try target.run($0) }
  }
}

@Suite("§15: Bad input never crashes, through the functions that the fuzzer calls")
struct CorpusTests {
  @Test("No input of the corpus violates a promise", arguments: FuzzTarget.all)
  func corpus(_ target: FuzzTarget) throws {
    let inputs = CorpusInput.all(in: "Corpus").filter { $0.target.name == target.name }
    #expect(inputs.count >= 3, "a target without seeds")
    for input in inputs {
      do {
        try input.run()
      } catch {
        Issue.record("\(input.path): \(error)")
      }
    }
  }

  @Test(
    "Former findings of the fuzzer are not found again", arguments: CorpusInput.all(in: "Findings"))
  func findings(_ input: CorpusInput) throws {
    try input.run()
  }

  @Test("No truncated input of the corpus violates a promise")
  func truncated() throws {
    for target in FuzzTarget.all {
      for input in CorpusInput.all(in: "Corpus") where input.target.name == target.name {
        try input.runTruncated()
      }
    }
  }

  @Test("Every kept file belongs to a target")
  func folders() {
    let known = Set(FuzzTarget.all.map(\.name))
    for folder in ["Corpus", "Findings"] {
      #expect(Set(CorpusInput.names(in: folder)).subtracting(known).isEmpty)
    }
  }

  @Test("The canary target reports its planted defect")
  func canary() {
    let target = FuzzTarget.canary
    #expect(throws: Finding.self) {
      try Array("dig".utf8).withUnsafeBytes { try target.run($0) }
    }
    #expect(throws: Never.self) {
      try Array("dug".utf8).withUnsafeBytes { try target.run($0) }
    }
  }
}

extension CorpusInput {
  /// Runs the target with about 64 prefixes of the input, or with every prefix of a short input.
  func runTruncated() throws {
    let bytes = try Data(contentsOf: URL(filePath: "\(Self.fuzz)/\(path)"))
    for count in stride(from: 0, to: bytes.count, by: 1 + bytes.count / 64) {
      do {
        try bytes.prefix(count).withUnsafeBytes { try target.run($0) }
      } catch {
        throw Finding(description: "\(path), the first \(count) bytes: \(error)")
      }
    }
  }
}

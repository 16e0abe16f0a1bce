import FoundationEssentials
import TaskSchedulerWire
import TestSupport
import Testing

@testable import taskctl

/// The package's root, three components above this file (Tests/TaskctlTests/SimulateTests.swift).
private let root = #filePath.split(separator: "/", omittingEmptySubsequences: false)
  .dropLast(3).joined(separator: "/")

@Suite("taskctl simulate FILE")
struct SimulateFileTests {
  private func simulate(_ arguments: [String]) throws -> TaskctlProcess.Outcome {
    try TaskctlProcess(["simulate"] + arguments, socket: nil).outcome()
  }

  @Test(
    "The timeline of each example equals the stored one",
    arguments: ["killed", "memory", "music", "places", "sleep", "upload", "voip"])
  func examples(_ name: String) throws {
    let expected = try String(
      contentsOfFile: "\(root)/Tests/TaskctlTests/Timelines/\(name).timeline", encoding: .utf8)
    let outcome = try simulate(["\(root)/Examples/scenarios/\(name).scenario"])
    #expect(outcome.output == expected)
    #expect(outcome.code == 0 && outcome.errors == "")
  }

  @Test("With --json, the summary of a campaign has its seeds and its exact trace hash")
  func summary() throws {
    let text = try simulate(["--seeds", "2", "--first", "7"]).output
    let outcome = try simulate(["--seeds", "2", "--first", "7", "--json"])
    #expect(outcome.code == 0)
    let document = try JSONParser.parse(Array(outcome.output.utf8))
    #expect(document["firstSeed"] == "7")
    #expect(document["seeds"] == 2)
    #expect(document["differing"] == [])
    let hash = try #require(text.firstMatch(of: /trace hash ([0-9a-f]+)\n/)).1
    #expect(document["traceHash"] == .string(String(hash)))
  }

  @Test("The simulate command with --json prints one document on one line")
  func json() throws {
    let outcome = try simulate(["\(root)/Examples/scenarios/upload.scenario", "--json"])
    #expect(outcome.output.split(separator: "\n").count == 1)
    struct Document: Decodable {
      struct Entry: Decodable {
        var atUSec: Int
        var kind: String
        var to: String?
      }
      var entries: [Entry]
      var isCut: Bool
    }
    let document = try JSONDecoder().decode(Document.self, from: Data(outcome.output.utf8))
    #expect(document.entries.contains { $0.atUSec == 13_000_000 && $0.kind == "expiration" })
    #expect(document.entries.contains { $0.to == "suspended" })
    #expect(!document.isCut)
  }

  @Test("An error in a scenario is printed with its file, line, column and a suggestion")
  func mistake() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("a.scenario")
    try "application org.example.mail\nat 1s lunch org.example.mail\n"
      .write(toFile: path, atomically: false, encoding: .utf8)
    let outcome = try simulate([path])
    #expect(outcome.code == 1)
    #expect(outcome.output == "")
    #expect(outcome.errors.hasPrefix("taskctl: InvalidScenario: \(path):2:7: \"lunch\" is no"))
    #expect(outcome.errors.hasSuffix("did you mean \"launch\"?\n"))
  }

  @Test(
    "An unreadable file is an error",
    arguments: ["/nonexistent/a.scenario", "/", "/dev/zero"])
  func unreadable(_ path: String) throws {
    let outcome = try simulate([path])
    #expect(outcome.code == 1)
    #expect(outcome.errors.hasPrefix("taskctl: UnreadableScenario: "))
  }

  @Test("The error for a file that is not UTF-8 names the file and the right encoding")
  func noText() throws {
    let directory = TemporaryDirectory()
    let path = directory.file("latin.scenario")
    try Data([0x61, 0xFF, 0x0A]).write(to: URL(filePath: path))
    let errors = try simulate([path]).errors
    #expect(
      errors == "taskctl: UnreadableScenario: \(path) is not valid UTF-8; save it in that "
        + "encoding\n")
  }

  @Test(
    "The error for a number below the minimum names the minimum",
    arguments: [
      (["--seeds", "-1"], "--seeds is -1; the minimum is 1"),
      (["--seeds", "1", "--jobs", "-1"], "--jobs is -1; the minimum is 1"),
      (["--seeds", "1", "--actions", "-1"], "--actions is -1; the minimum is 0"),
      (["--seeds", "1", "--first", "-1"], "'-1' is invalid for '--first <seed>'"),
    ])
  func below(_ arguments: [String], _ sentence: String) throws {
    let outcome = try simulate(arguments)
    #expect(outcome.code == 2 && outcome.errors.contains(sentence), "\(outcome.errors)")
  }

  @Test(
    "An option for seeds is refused with a scenario and with --replay, and the error names both",
    arguments: [
      ["--first", "1"], ["--jobs", "1"], ["--actions", "5"], ["--skip", "1"],
      ["--without", "endsWrongTask"], ["--canary", "all"], ["--trace"],
    ])
  func onlyForSeeds(_ option: [String]) throws {
    for (place, name) in [("/nonexistent/a.scenario", "a scenario"), ("--replay", "--replay")] {
      let outcome = try simulate([place] + option)
      #expect(outcome.code == 2)
      let sentence = "\(option[0]) has no effect with \(name); use it with --seeds"
      #expect(outcome.errors.contains(sentence), "\(outcome.errors)")
    }
  }

  @Test(
    "An invalid command line exits with 2 and a message",
    arguments: [
      [], ["--seeds", "0"], ["a", "--seeds", "1"], ["--seeds", "1", "--canary", "tiger"],
      ["--seeds", "1", "--skip", "5-2"], ["--seeds", "1", "--jobs", "0"],
      ["--seeds", "1", "--without", "x"], ["--seeds", "2", "--first", "18446744073709551615"],
    ])
  func usage(_ arguments: [String]) throws {
    let outcome = try simulate(arguments)
    #expect(outcome.code == 2 && !outcome.errors.isEmpty)
  }
}

@Suite("taskctl simulate --seeds")
struct SimulateSeedsTests {
  private func simulate(_ arguments: [String]) throws -> TaskctlProcess.Outcome {
    try TaskctlProcess(["simulate", "--actions", "300"] + arguments, socket: nil).outcome()
  }

  /// Returns the text after `trace hash`.
  private func hash(_ outcome: TaskctlProcess.Outcome) throws -> Substring {
    let words = outcome.output.split { $0 == " " || $0 == "\n" }
    let index = try #require(words.firstIndex(of: "hash"))
    return words[index + 1]
  }

  @Test("The same seeds give the same hash in any number of processes")
  func determinism() throws {
    let one = try simulate(["--seeds", "20", "--jobs", "1"])
    let three = try simulate(["--seeds", "20", "--jobs", "3"])
    let others = try simulate(["--seeds", "20", "--first", "2"])
    #expect(one.code == 0 && one.errors == "")
    #expect(one.output.contains("20 of 20 seeds had the same hash in two processes"))
    #expect(try hash(one) == hash(three))
    #expect(try hash(one) != hash(others))
  }

  @Test("The report of a caught defect names the seed and the checker")
  func canary() throws {
    let outcome = try simulate(["--seeds", "20", "--canary", "reply-twice"])
    #expect(outcome.code == 0)
    #expect(outcome.output.hasPrefix("canary reply-twice"))
    #expect(outcome.output.contains("caught by 20 of 20 seeds; seed 1: replies: request "))
  }

  @Test("A defect that is not caught has an exit code of its own")
  func missed() throws {
    let outcome = try simulate(["--seeds", "1", "--actions", "0", "--canary", "drop-kill"])
    #expect(outcome.code == 5)
    #expect(outcome.output.contains("was not caught by 1 seeds"))
  }

  @Test("The option --trace prints every event and effect of the first seed")
  func trace() throws {
    let outcome = try simulate(["--seeds", "1", "--first", "3", "--trace"])
    #expect(outcome.code == 0)
    #expect(outcome.output.hasPrefix("seed 3\nfaults: "))
    #expect(outcome.output.contains("\n1 @1000000000000 scheduler("))
    #expect(outcome.output.contains("    reply("))
  }

  @Test("The option --trace prints a violation, with an exit code of its own")
  func violation() throws {
    let outcome = try simulate(["--seeds", "1", "--canary", "reply-twice", "--trace"])
    #expect(outcome.code == 4)
    #expect(outcome.errors.hasPrefix("taskctl: replies: request "))
  }
}

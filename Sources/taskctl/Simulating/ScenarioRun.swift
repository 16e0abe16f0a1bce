import Glibc
import LinuxSystem
import TaskSchedulerSimulation
import TaskSchedulerWire

/// `taskctl simulate FILE`: reads a scenario, plays it, prints what came of it.
struct ScenarioRun {
  /// "-" is standard input.
  let path: String
  let isJSON: Bool

  /// Far more than a person writes.
  private static let bytesMax = 1 << 20

  func run() throws {
    let text = try read()
    let scenario: Scenario
    do throws(ScenarioProblem) {
      scenario = try Scenario(text)
    } catch {
      throw CommandFailure.failed(name: "InvalidScenario", sentence: sentence(error))
    }
    let timeline = ScenarioPlay.timeline(of: scenario)
    try Output.write(
      isJSON
        ? JSONOutput.line(document: TimelineDocument(timeline), nil)
        : TimelineText.text(timeline, .forStandardOutput()))
  }

  /// `upload.scenario:3:12: …`, as compilers write it.
  private func sentence(_ problem: ScenarioProblem) -> String {
    let hint = problem.word.flatMap { nearestName(to: $0, among: problem.candidates) }
      .map { "; did you mean \"\($0)\"?" } ?? ""
    return PrintableText.of(
      "\(name):\(problem.line):\(problem.column): \(problem.message)\(hint)")
  }

  private var name: String { path == "-" ? "standard input" : path }

  private func read() throws -> String {
    let bytes: [UInt8]
    if path == "-" {
      bytes = try FileDescriptor.duplicate(of: STDIN_FILENO).readToEnd()
    } else {
      do throws(BoundedFileError) {
        bytes = try BoundedFile(path: path, bytesMax: Self.bytesMax).bytes
      } catch {
        throw unreadable("\(path) cannot be read: \(error.words(limitOf: "a scenario"))")
      }
    }
    guard bytes.count <= Self.bytesMax else {
      throw unreadable("\(name) is too long: a scenario has \(Self.bytesMax) bytes at most")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw unreadable("\(name) is no UTF-8 text; save the file in that encoding")
    }
    return text
  }

  private func unreadable(_ sentence: String) -> CommandFailure {
    .failed(name: "UnreadableScenario", sentence: PrintableText.of(sentence))
  }
}

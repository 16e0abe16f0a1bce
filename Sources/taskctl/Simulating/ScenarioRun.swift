import Glibc
import LinuxSystem
import TaskSchedulerSimulation
import TaskSchedulerWire

/// The command `taskctl simulate FILE`, which runs a scenario and prints its timeline.
struct ScenarioRun {
  /// The path of the scenario; "-" is standard input.
  let path: String
  let isJSON: Bool

  /// The size limit of a scenario, in bytes.
  private static let bytesMax = 1 << 20

  func run() throws {
    let text = try read()
    let scenario: Scenario
    do throws(ScenarioProblem) {
      scenario = try Scenario(text)
    } catch {
      throw CommandFailure.failed(name: "InvalidScenario", sentence: sentence(error))
    }
    let timeline = ScenarioRunner.timeline(of: scenario)
    try Output.write(
      isJSON
        ? JSONOutput.line(TimelineDocument.json(timeline), nil)
        : TimelineText.text(timeline, .forStandardOutput()))
  }

  /// Returns `upload.scenario:3:12: …`, the form that compilers use.
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
        throw unreadable("could not read \(path): \(error.words(limitOf: "a scenario"))")
      }
    }
    guard bytes.count <= Self.bytesMax else {
      throw unreadable("\(name) is too large; a scenario has at most \(Self.bytesMax) bytes")
    }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw unreadable("\(name) is not valid UTF-8; save it in that encoding")
    }
    return text
  }

  private func unreadable(_ sentence: String) -> CommandFailure {
    .failed(name: "UnreadableScenario", sentence: PrintableText.of(sentence))
  }
}

/// The problems of one file, in the order of its lines.
///
/// Only the first problems get a message. A file of 1 MiB may contain tens of thousands of
/// problems, and a message may require a comparison with every known key.
struct ProblemList {
  /// The number of problems per file that get a message. The list reports only the number of the
  /// other problems.
  static let toldMax = 100

  private let file: String
  private var found: [(line: Int?, key: String?, message: () -> String)] = []

  init(of file: String) {
    self.file = file
  }

  var isEmpty: Bool { found.isEmpty }

  /// Adds a problem.
  ///
  /// - Parameter message: Returns the message; called only if the problem is reported.
  mutating func add(line: Int?, key: String?, _ message: @escaping () -> String) {
    found.append((line, key, message))
  }

  /// The first problems of the file. If there are more than ``toldMax``, the last entry reports the
  /// number of the others.
  var told: [ConfigurationProblem] {
    let ordered = found.sorted { ($0.line ?? 0, $0.key ?? "") < ($1.line ?? 0, $1.key ?? "") }
    let told = ordered.prefix(Self.toldMax).map {
      ConfigurationProblem(file: file, line: $0.line, key: $0.key, message: $0.message())
    }
    return told + Self.rest(of: found.count, in: file)
  }

  /// Returns an array with one entry, which reports the number of problems beyond ``toldMax``. If
  /// `count` does not exceed ``toldMax``, the array is empty.
  static func rest(of count: Int, in file: String) -> [ConfigurationProblem] {
    guard count > toldMax else { return [] }
    return [ConfigurationProblem(file: file, message: "and \(count - toldMax) more problems")]
  }
}

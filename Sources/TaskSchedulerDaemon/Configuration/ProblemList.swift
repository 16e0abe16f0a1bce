/// The mistakes of one file, told in the order of its lines.
///
/// Only the first are told in words: a file of 1 MiB has room for tens of thousands, and to say
/// which key was meant takes a comparison with each that there is.
struct ProblemList {
  /// How many mistakes of one file are told; of the others, how many there are.
  static let toldMax = 100

  private let file: String
  private var found: [(line: Int?, key: String?, message: () -> String)] = []

  init(of file: String) {
    self.file = file
  }

  var isEmpty: Bool { found.isEmpty }

  /// Adds a mistake.
  ///
  /// - Parameter message: called only where the mistake is told.
  mutating func add(line: Int?, key: String?, _ message: @escaping () -> String) {
    found.append((line, key, message))
  }

  /// The first mistakes, and one more that counts the rest.
  var told: [ConfigurationProblem] {
    let ordered = found.sorted { ($0.line ?? 0, $0.key ?? "") < ($1.line ?? 0, $1.key ?? "") }
    let told = ordered.prefix(Self.toldMax).map {
      ConfigurationProblem(file: file, line: $0.line, key: $0.key, message: $0.message())
    }
    return told + Self.rest(of: found.count, in: file)
  }

  /// What is said of those beyond the first, where there are any.
  static func rest(of count: Int, in file: String) -> [ConfigurationProblem] {
    guard count > toldMax else { return [] }
    return [ConfigurationProblem(file: file, message: "and \(count - toldMax) more mistakes")]
  }
}

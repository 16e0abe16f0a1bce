/// A fuzz target for one input format: its name, which is also the name of its directories in
/// `Corpus` and `Findings`, and the code that runs one input.
///
/// The code may refuse an input as the documentation of the format allows. A trap, a report of a
/// sanitizer, or a thrown `Finding` is a defect.
public struct FuzzTarget: Sendable, CustomStringConvertible {
  /// Runs one input. The bytes are valid only during the call.
  public typealias Run = @Sendable (UnsafeRawBufferPointer) throws -> Void

  public let name: String
  /// The code that runs one input. Throws a `Finding` if the input reveals a defect.
  public let run: Run

  init(_ name: String, _ run: @escaping Run) {
    self.name = name
    self.run = run
  }

  public var description: String { name }

  /// The targets of all formats.
  public static let all: [FuzzTarget] = [
    FuzzTarget("json", JSONTarget.run),
    FuzzTarget("framing", FramingTarget.run),
    FuzzTarget("server", ServerTarget.run),
    FuzzTarget("client", ClientTarget.run),
    FuzzTarget("parameters", ParametersTarget.run),
    FuzzTarget("interface", InterfaceTarget.run),
    FuzzTarget("descriptors", DescriptorsTarget.run),
    FuzzTarget("settings", SettingsTarget.run),
    FuzzTarget("manifest", ManifestTarget.run),
    FuzzTarget("spans", SpansTarget.run),
    FuzzTarget("event-log", EventLogTarget.run),
    FuzzTarget("scenario", ScenarioTarget.run),
    FuzzTarget("sway", SwayTarget.run),
    FuzzTarget("png", PNGTarget.run),
    FuzzTarget("gpsd", GPSDTarget.run),
    FuzzTarget("gpx", GPXTarget.run),
  ]

  /// A target that fails on purpose. If the fuzzer does not report it, the fuzzer does not work.
  public static let canary = FuzzTarget("canary", CanaryTarget.run)

  /// Creates the data that all inputs share.
  public static func prepare() {
    _ = InterfaceMethods.service
    _ = InterfaceMethods.byName
    _ = EventLogSample.shared
  }

  /// Returns the target with the given name.
  public static func named(_ name: String) -> FuzzTarget? {
    (all + [canary]).first { $0.name == name }
  }
}

/// A violated invariant, in one sentence.
public struct Finding: Error, CustomStringConvertible {
  public let description: String

  public init(description: String) {
    self.description = description
  }
}

/// Throws the sentence as a finding if the condition is false.
func require(
  _ condition: @autoclosure () throws -> Bool, _ sentence: @autoclosure () -> String
) throws {
  if try !condition() { throw Finding(description: sentence()) }
}

/// A reader of the first bytes of an input, which control the target.
struct ControlBytes {
  private(set) var rest: UnsafeRawBufferPointer

  init(_ input: UnsafeRawBufferPointer) {
    rest = input
  }

  /// Returns the next byte; nil at the end.
  mutating func byte() -> UInt8? {
    guard let first = rest.first else { return nil }
    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
    return first
  }

  /// Returns the given number of bytes, or all that are left.
  mutating func bytes(_ count: Int) -> [UInt8] {
    let taken = Array(rest.prefix(count))
    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    return taken
  }
}

/// Fails if the input starts with `dig`. Each correct letter increases the coverage, so a working
/// fuzzer finds the word soon.
enum CanaryTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let word = Array("dig".utf8)
    guard input.count >= word.count, input[0] == word[0], input[1] == word[1] else { return }
    try require(input[2] != word[2], "the canary was found")
  }
}

/// An input format from outside: a name, which its directories in `Corpus` and `Findings` bear, and
/// what is done with one input.
///
/// An input may be refused in any way that its format's documentation allows. What may not happen
/// is a trap, a sanitizer's report, or a `Finding`: a promise that the target saw broken.
public struct FuzzTarget: Sendable, CustomStringConvertible {
  /// One input's bytes, which the target may not keep.
  public typealias Run = @Sendable (UnsafeRawBufferPointer) throws -> Void

  public let name: String
  /// Throws a `Finding`.
  public let run: Run

  init(_ name: String, _ run: @escaping Run) {
    self.name = name
    self.run = run
  }

  public var description: String { name }

  /// All formats.
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
  ]

  /// Breaks a promise on purpose, so that a run which does not report it is seen to be worthless.
  public static let canary = FuzzTarget("canary", CanaryTarget.run)

  /// Makes what all inputs share.
  public static func prepare() {
    _ = InterfaceMethods.service
    _ = InterfaceMethods.byName
    _ = EventLogSample.shared
  }

  /// The target of that name.
  public static func named(_ name: String) -> FuzzTarget? {
    (all + [canary]).first { $0.name == name }
  }
}

/// A broken promise, in one sentence.
public struct Finding: Error, CustomStringConvertible {
  public let description: String

  public init(description: String) {
    self.description = description
  }
}

/// Throws the sentence as a finding unless the condition holds.
func require(
  _ condition: @autoclosure () throws -> Bool, _ sentence: @autoclosure () -> String
) throws {
  if try !condition() { throw Finding(description: sentence()) }
}

/// The bytes that stand before the text of an input and steer the target.
struct Steering {
  private(set) var rest: UnsafeRawBufferPointer

  init(_ input: UnsafeRawBufferPointer) {
    rest = input
  }

  /// The next byte; nil at the end.
  mutating func byte() -> UInt8? {
    guard let first = rest.first else { return nil }
    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst())
    return first
  }

  /// So many bytes, or those that are left.
  mutating func bytes(_ count: Int) -> [UInt8] {
    let taken = Array(rest.prefix(count))
    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(count))
    return taken
  }
}

/// Three letters in a row, each of which coverage leads to.
enum CanaryTarget {
  static func run(_ input: UnsafeRawBufferPointer) throws {
    let word = Array("dig".utf8)
    guard input.count >= word.count, input[0] == word[0], input[1] == word[1] else { return }
    try require(input[2] != word[2], "the canary was dug out")
  }
}

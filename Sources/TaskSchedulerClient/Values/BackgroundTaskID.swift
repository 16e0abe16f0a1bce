/// The identity of a background task, unique for the life of the process.
public struct BackgroundTaskID: Hashable, Sendable, CustomStringConvertible {
  /// The number of the task, 1 or more.
  public let rawValue: Int

  init(_ rawValue: Int) {
    self.rawValue = rawValue
  }

  /// The number in decimal digits.
  public var description: String { String(rawValue) }
}

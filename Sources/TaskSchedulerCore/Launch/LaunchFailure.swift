/// A launch that failed.
public struct LaunchFailure: Equatable, Sendable {
  /// Which step failed, and why.
  public var reason: String
  public var at: Instant
}

/// A launch that failed.
public struct LaunchFailure: Hashable, Sendable {
  /// Which step failed, and why.
  public var reason: String
  public var at: Instant
}

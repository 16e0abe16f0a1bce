/// A launch that failed.
public struct LaunchFailure: Equatable, Sendable {
  /// The step that failed, and the reason.
  public var reason: String
  public var at: Instant
}

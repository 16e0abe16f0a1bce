/// A condition that entitles an application to run in the background (contract §5). These cases are
/// the only such conditions. `Instance.entitlements` decides which conditions an instance fulfils.
public enum Entitlement: String, Equatable, Sendable, CaseIterable {
  /// An outstanding background task with time left.
  case backgroundTask
  /// An unacknowledged callback.
  case callback
  /// Audio that is audible or recorded, and `AudioGraceTime` afterwards.
  case audio
  /// Running location updates.
  case location
  /// An event that the application is handling.
  case event
}

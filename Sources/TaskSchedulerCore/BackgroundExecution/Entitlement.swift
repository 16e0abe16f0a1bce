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

/// An activity that the daemon observes in an instance, and that may entitle the instance to run.
public enum Activity: String, Equatable, Sendable, CaseIterable {
  case event
}

/// The current activities of one instance.
struct Activities: Equatable, Sendable {
  private(set) var eventsUnderWay = 0

  mutating func begin(_ activity: Activity) {
    switch activity {
    case .event: eventsUnderWay += 1
    }
  }

  mutating func end(_ activity: Activity) {
    switch activity {
    case .event: eventsUnderWay = max(0, eventsUnderWay - 1)
    }
  }

  /// The entitlements that follow from the activities, in the contract's order.
  var entitlements: [Entitlement] {
    var entitlements: [Entitlement] = []
    if eventsUnderWay > 0 { entitlements.append(.event) }
    return entitlements
  }

  var isEmpty: Bool { eventsUnderWay == 0 }
}

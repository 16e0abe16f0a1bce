/// What entitles an application to run in the background (contract §5). Nothing else does.
public enum Entitlement: String, Hashable, Sendable, CaseIterable {
  /// An outstanding background task with time left.
  case backgroundTask
  /// An unacknowledged callback.
  case callback
  /// Audio that really plays.
  case audio
  /// Location updates running.
  case location
  /// An event being handled.
  case event
}

/// What the daemon sees an instance do that may entitle it to run.
public enum Activity: String, Hashable, Sendable, CaseIterable {
  case audio, location, event

  /// The mode that the manifest must declare for it.
  var mode: BackgroundMode? {
    switch self {
    case .audio: .audio
    case .location: .location
    case .event: nil
    }
  }
}

/// The activities of one instance that are under way.
struct Activities: Hashable, Sendable {
  private(set) var isPlaying = false
  private(set) var isLocating = false
  private(set) var eventsUnderWay = 0

  mutating func begin(_ activity: Activity) {
    switch activity {
    case .audio: isPlaying = true
    case .location: isLocating = true
    case .event: eventsUnderWay += 1
    }
  }

  mutating func end(_ activity: Activity) {
    switch activity {
    case .audio: isPlaying = false
    case .location: isLocating = false
    case .event: eventsUnderWay = max(0, eventsUnderWay - 1)
    }
  }

  /// In the contract's order.
  var entitlements: [Entitlement] {
    var entitlements: [Entitlement] = []
    if isPlaying { entitlements.append(.audio) }
    if isLocating { entitlements.append(.location) }
    if eventsUnderWay > 0 { entitlements.append(.event) }
    return entitlements
  }

  var isEmpty: Bool { !isPlaying && !isLocating && eventsUnderWay == 0 }
}

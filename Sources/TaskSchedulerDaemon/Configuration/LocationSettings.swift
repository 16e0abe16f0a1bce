import TaskSchedulerCore

/// `[location]`: the applications to which the operator allows or denies the location, and the
/// socket of gpsd (contract §17).
public struct LocationSettings: Hashable, Sendable {
  /// The applications that the operator allows.
  public enum Applications: Hashable, Sendable {
    case all
    case only([ApplicationID])
  }

  /// `allow`.
  public var allow = Applications.only([])
  /// `deny`: the applications that the operator denies, even if `allow` includes them.
  public var deny: [ApplicationID] = []
  /// `gpsd`: the path of the Unix socket of gpsd, or of a proxy to gpsd; empty for none.
  public var gpsdSocket = "/run/taskschedd/gpsd"

  public init() {}

  /// The decisions that the scheduler needs.
  var rules: LocationRules {
    switch allow {
    case .all: LocationRules(denied: deny, allowsAll: true)
    case .only(let ids): LocationRules(allowed: ids, denied: deny)
    }
  }
}

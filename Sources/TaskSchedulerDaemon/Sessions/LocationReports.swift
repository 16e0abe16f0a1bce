import TaskSchedulerCore

/// Passes the session agents' reports about GeoClue to the scheduler.
///
/// The daemon ignores a location unless GeoClue is available to the user and the daemon has ordered
/// locations from the user's agent. An agent could otherwise fill the event log.
final class LocationReports {
  private let post: (Event) -> Void
  /// The users with GeoClue.
  private var users: Set<UserID> = []

  init(post: @escaping (Event) -> Void) { self.post = post }

  /// Handles a report about whether GeoClue is available to a user.
  func report(isAvailable: Bool, to user: UserID) {
    let wasAvailable = users.contains(user)
    guard isAvailable != wasAvailable else { return }
    if isAvailable { users.insert(user) } else { users.remove(user) }
    post(.location(.sourceChanged(.geoClue(user), isAvailable: isAvailable)))
  }

  /// Handles a location that the agent of a user reports.
  ///
  /// - Parameter isOrdered: Whether the daemon has ordered locations from the agent.
  func report(_ location: Location, of user: UserID, isOrdered: Bool) {
    guard isOrdered, users.contains(user) else { return }
    post(.location(.located(.geoClue(user), location)))
  }

  /// Reports GeoClue as not available to a user, because the user's agent is gone.
  func lose(_ user: UserID) { report(isAvailable: false, to: user) }

  /// Records that GeoClue is available to a user. The scheduler already knows this from an earlier
  /// daemon.
  func restore(_ user: UserID) { users.insert(user) }
}

extension LocationStatus {
  /// The users with GeoClue, in order.
  var geoClueUsers: [UserID] {
    sources.compactMap { source, isAvailable in
      if case .geoClue(let user) = source, isAvailable { user } else { nil }
    }.sorted()
  }
}

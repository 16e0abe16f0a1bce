import TaskSchedulerCore
import TaskSchedulerWire

// The methods about the location, for operators and users (contract §17).

extension ControlService {
  func getLocation(_ input: Interface.GetLocation.Input, _ connection: Connection) throws {
    let peer = connection.peer
    let user = try user(input.owner, peer)
    let status = pump.scheduler.locationStatus
    let uses = status.uses.filter { user == nil || $0.application.owner == user }
    // The needed accuracy depends on the applications of all users. A user may see this accuracy
    // only if one of the user's own applications uses the location.
    let mayKnowNeeds = isOperator(peer) || uses.contains { !$0.services.isEmpty }
    let location =
      user.map { status.locations[$0] } ?? status.locations.values.max { $0.time < $1.time }
    let nextLook = user.map { status.nextLooks[$0] } ?? status.nextLooks.values.min()
    connection.reply(
      Interface.GetLocation.Output(
        sources: locationSources().map { .init($0) } + geoClue(user, status),
        needed: mayKnowNeeds ? status.needs.accuracy.map { .init($0) } : nil,
        nextLookUSec: nextLook?.microseconds,
        location: location.map { .init($0) },
        simulatedUntilUSec: status.simulatedUntil(user, at: pump.now)?.microseconds,
        uses: uses.sorted { $0.application < $1.application }.map {
          .init($0, from: status.locations[$0.application.owner])
        }))
  }

  /// Returns the user whose applications a call is about; nil for the applications of all users.
  private func user(_ owner: Int?, _ peer: Peer) throws -> UserID? {
    let mayAll = isOperator(peer)
    guard let owner = try owner.map({ try Self.uid($0) }) else {
      return mayAll ? nil : UserID(peer.uid)
    }
    guard mayAll || owner == peer.uid else {
      throw Interface.Failure.notPermitted(application: nil)
    }
    return UserID(owner)
  }

  /// Returns the state of GeoClue for one user. If `user` is nil, returns the state for each user
  /// with a session agent, and for each user whose state the scheduler knows.
  private func geoClue(_ user: UserID?, _ status: LocationStatus) -> [Interface.LocationSource] {
    var isAvailable: [UserID: Bool] = [:]
    for (source, available) in status.sources {
      if case .geoClue(let owner) = source { isAvailable[owner] = available }
    }
    let attached = agents.users
    let users = user.map { [$0] } ?? Set(attached).union(isAvailable.keys).sorted()
    guard !users.isEmpty else {
      return [
        .init(name: "GeoClue", available: false, problem: "no session agent is attached")
      ]
    }
    return users.map { user in
      let problem =
        isAvailable[user] == true
        ? nil
        : attached.contains(user)
          ? "the session agent cannot use GeoClue" : "no session agent of the user is attached"
      return .init(
        name: "GeoClue", owner: Int(user.uid), available: problem == nil, problem: problem)
    }
  }

  func postLocation(_ input: Interface.PostLocation.Input, _ connection: Connection) throws {
    let location = try Location(input.location, parameter: "location")
    let user = try user(input.owner, connection.peer)
    let request = requests.open(connection, application: "")
    post(.location(.posted(request, location, for: user)))
  }

  func setLocationAuthorization(
    _ input: Interface.SetLocationAuthorization.Input, _ connection: Connection
  ) throws {
    let key = try locating(input.application, input.owner, connection.peer)
    let request = requests.open(connection, application: input.application)
    post(.location(.authorize(request, key, .init(input.authorization))))
  }

  func forgetLocation(
    _ input: Interface.ForgetLocation.Input, _ connection: Connection
  ) throws {
    let key = try locating(input.application, input.owner, connection.peer)
    let request = requests.open(connection, application: input.application)
    post(.location(.forget(request, key)))
  }

  /// Returns the key of an application that the scheduler knows, or that uses the location.
  private func locating(_ id: String, _ owner: Int?, _ peer: Peer) throws -> ApplicationKey {
    let uses = pump.scheduler.locationStatus.uses
    return try key(id, owner, peer) { id in
      uses.filter { $0.application.id == id }.map(\.application.owner)
    }
  }

  /// Returns how applications use the location.
  func locationUses() -> [ApplicationKey: LocationStatus.Use] {
    let uses = pump.scheduler.locationStatus.uses.filter { !$0.services.isEmpty }
    return Dictionary(uses.map { ($0.application, $0) }) { first, _ in first }
  }
}

extension LocationStatus {
  /// Returns the instant until which a simulated location is valid for `user`; nil if there is no
  /// such location. If `user` is nil, considers the simulated locations of all users.
  fileprivate func simulatedUntil(_ user: UserID?, at now: Instant) -> Instant? {
    let ends = user.map { [postedUntil[$0]] } ?? postedUntil.values.map { $0 }
    return (ends + [postedForAllUntil]).compactMap(\.self).filter { $0 > now }.max()
  }
}

extension ControlInterface.LocationSource {
  fileprivate init(_ state: LocationSourceState) {
    self.init(
      name: state.name, available: state.isAvailable,
      problem: state.problem.map { PrintableText.of($0) })
  }
}

extension ControlInterface.LocationUse {
  /// - Parameter location: The newest location of the owner.
  fileprivate init(_ use: LocationStatus.Use, from location: TaskSchedulerCore.Location?) {
    self.init(
      application: use.application.id.name, owner: Int(use.application.owner.uid),
      authorization: .init(use.authorization), denial: use.denial.map { .init($0) },
      updates: use.updates.map {
        .init(
          desiredAccuracy: .init($0.desiredAccuracy), distanceFilter: $0.distanceFilter)
      },
      monitorsSignificantChanges: use.monitorsSignificantChanges,
      regions: use.regions.sorted { $0.region.id < $1.region.id }.map { monitored in
        .init(
          region: .init(monitored.region), inside: monitored.isInside,
          distance: location.map { monitored.region.center.distance(to: $0.coordinate) })
      }, lastUsedUSec: use.lastUsed?.microseconds)
  }
}

import Testing

@testable import TaskSchedulerCore

/// A place in Berlin, to which other places are relative.
let home = Coordinate(latitude: 52.52, longitude: 13.405)!

/// Returns the place that lies a distance to the north of ``home``.
func north(_ meters: Double) -> Coordinate {
  Coordinate(latitude: home.latitude + meters / 111_195, longitude: home.longitude)!
}

func region(
  _ name: String, radius: Double = 200, notifiesOnEntry: Bool = true, notifiesOnExit: Bool = true
) -> Region {
  Region(
    RegionID(name)!, center: home, radius: radius, notifiesOnEntry: notifiesOnEntry,
    notifiesOnExit: notifiesOnExit)!
}

extension World {
  /// Starts a world in which gpsd is available.
  static func withReceiver(_ change: (inout Policy) -> Void = { _ in }) -> World {
    var world = World(change)
    world.feed(.location(.sourceChanged(.gpsd, isAvailable: true)))
    return world
  }

  /// Creates an application in the foreground, without unacknowledged callbacks. By default, its
  /// manifest lists all location services.
  mutating func makeLocated(
    _ app: ApplicationKey, modes: [BackgroundMode] = [.location],
    services: [LocationService] = LocationService.allCases, isAuthorized: Bool = true
  ) -> InstanceID {
    let known = scheduler.applications.all.compactMap(\.manifest).filter { $0.id != app.id }
    let manifest = Manifest(
      id: app.id, owner: app.owner, backgroundModes: modes, locationServices: services)
    feed(.scheduler(.manifestsChanged(known + [manifest])))
    if isAuthorized { ask { .location(.authorize($0, app, .authorized)) } }
    let id = register(app)
    acknowledgeAll(id)
    return id
  }

  mutating func sendAway(_ app: ApplicationKey, _ id: InstanceID) {
    ask { .operation(.sendToBackground($0, app)) }
    acknowledgeAll(id)
  }

  @discardableResult
  mutating func startUpdates(
    _ id: InstanceID, _ accuracy: LocationAccuracy = .best, filter: Double? = nil
  ) -> Reply? {
    ask {
      .location(
        .startUpdates(
          $0, id, LocationRequest(desiredAccuracy: accuracy, distanceFilter: filter)))
    }
  }

  @discardableResult
  mutating func monitor(_ id: InstanceID, _ region: Region) -> Reply? {
    ask { .location(.startMonitoring($0, id, region)) }
  }

  @discardableResult
  mutating func monitorChanges(_ id: InstanceID) -> Reply? {
    ask { .location(.monitorSignificantChanges($0, id)) }
  }

  /// Reports a location of gpsd, north of ``home``. The time of the location is the world's time.
  mutating func locate(
    _ meters: Double, accuracy: Double? = 5, from source: LocationSource = .gpsd
  ) {
    feed(.location(.located(source, location(meters, accuracy: accuracy))))
  }

  func location(_ meters: Double, accuracy: Double? = 5) -> Location {
    Location(
      north(meters), accuracy: accuracy,
      time: WallTime(nanoseconds: Int64(now.nanoseconds) + 1_700_000_000_000_000_000))
  }

  /// The needs that the scheduler has passed to the sources of locations most recently.
  var needs: LocationNeeds? {
    effects.compactMap { if case .location(.need(let needs)) = $0 { needs } else { nil } }.last
  }

  /// Whether a receiver must run.
  var isReceiving: Bool { scheduler.locationNeeds.accuracy != nil }

  /// Returns the distance from ``home``, in meters, of each location update that an instance
  /// received.
  func updates(_ id: InstanceID) -> [Int] {
    notices(id).compactMap {
      guard case .location(let location) = $0 else { return nil }
      return Int(home.distance(to: location.coordinate).rounded())
    }
  }

  func crossings(_ id: InstanceID) -> [RegionCrossing] {
    notices(id).compactMap { if case .region(_, let crossing, _) = $0 { crossing } else { nil } }
  }

  func significantChanges(_ id: InstanceID) -> [Int] {
    notices(id).compactMap {
      guard case .significantChange(_, let location) = $0 else { return nil }
      return Int(home.distance(to: location.coordinate).rounded())
    }
  }

  /// Acknowledges the crossings, significant changes and ready sockets that an instance handles.
  mutating func acknowledgeNotices(_ id: InstanceID) {
    for notice in scheduler.instances[id]?.handling.notices ?? [] {
      switch notice {
      case .region(let event, _, _), .significantChange(let event, _), .socketsReady(let event, _):
        ask { .application(.acknowledge($0, id, event)) }
      case .systemChanges, .notificationFired, .notificationChosen, .memoryWarning, .remoteControl,
        .audioInterruption, .call, .location, .locationAuthorization:
        break
      }
    }
  }

  /// The changes that the scheduler has passed to the store of locations, in order.
  var locationChanges: [LocationChange] {
    effects.compactMap {
      if case .location(.store(_, _, let change)) = $0 { change } else { nil }
    }
  }

  /// The orders about questions to the user, the oldest first: true to show a question, false to
  /// remove one.
  var questions: [Bool] {
    effects.compactMap { if case .location(.ask(_, let isShown)) = $0 { isShown } else { nil } }
  }
}

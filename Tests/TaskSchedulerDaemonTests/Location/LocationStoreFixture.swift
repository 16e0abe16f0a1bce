import LinuxSystem
import TaskSchedulerCore
import TestSupport

@testable import TaskSchedulerDaemon

/// The applications and regions that the tests of the location store write.
enum LocationStoreFixture {
  static let maps = ApplicationKey(ApplicationID("org.example.maps")!, owner: UserID(1000))
  static let places = ApplicationKey(ApplicationID("org.example.places")!, owner: UserID(1000))
  static let home = RegionID("home")!
  static let work = RegionID("work")!

  static func region(
    _ id: RegionID, latitude: Double = 52.517_234_567_89, radius: Double = 150.5,
    notifiesOnEntry: Bool = true, notifiesOnExit: Bool = true
  ) -> Region {
    Region(
      id, center: Coordinate(latitude: latitude, longitude: -179.999_999_999)!, radius: radius,
      notifiesOnEntry: notifiesOnEntry, notifiesOnExit: notifiesOnExit)!
  }

  /// Returns a different region for each number.
  static func region(_ number: UInt64) -> Region { region(RegionID("region \(number)")!) }
}

extension LocationStore {
  /// Writes one change.
  func apply(_ change: LocationChange, of key: ApplicationKey) throws(StoreError) {
    try apply([Change(change, of: key)])
  }

  /// The number of stored regions.
  func regionCount() throws(StoreError) -> Int {
    try contents().reduce(0) { $0 + $1.regions.count }
  }
}

/// A simple model of a location store. It computes the contents that the store must have after
/// changes.
struct LocationStoreModel {
  private var applications: [ApplicationKey: StoredLocationServices] = [:]

  mutating func apply(_ one: LocationStore.Change) {
    var services =
      applications[one.application] ?? StoredLocationServices(application: one.application)
    switch one.change {
    case .monitor(let region):
      services.regions.removeAll { $0.region.id == region.id }
      services.regions.append(.init(region, isInside: nil))
      services.regions.sort { $0.region.id < $1.region.id }
    case .stopMonitoring(let id): services.regions.removeAll { $0.region.id == id }
    case .monitorSignificantChanges(let isOn): services.monitorsSignificantChanges = isOn
    case .authorize(let authorization, let wasAsked):
      (services.authorization, services.wasAsked) = (authorization, wasAsked)
    case .report(let crossing):
      for index in services.regions.indices
      where services.regions[index].region.id == crossing.region {
        services.regions[index].isInside = crossing.isInside
      }
    }
    let isEmpty = services == StoredLocationServices(application: one.application)
    applications[one.application] = isEmpty ? nil : services
  }

  var contents: [StoredLocationServices] {
    applications.values.sorted { $0.application < $1.application }
  }
}

import TaskSchedulerCore
import TaskSchedulerWire
import Testing

@testable import TaskSchedulerDaemon

@Suite("§17: Locations and regions in calls and replies")
struct LocationTranslationTests {
  private typealias Wire = ApplicationInterface

  private static let wire = Wire.Location(
    latitude: 52.5, longitude: 13.25, accuracy: 8, altitude: 34.5, speed: 1.5, course: 270,
    measuredAtUSec: 1_795_536_000_500_000)
  private static let bare = Wire.Location(latitude: 0, longitude: 0, measuredAtUSec: 0)
  private static let region = Wire.Region(
    identifier: "home", latitude: 52.5, longitude: 13.25, radius: 150)

  // MARK: Locations

  @Test("A location has the same values in the scheduler and in the interface")
  func location() throws {
    let location = try Location(Self.wire, parameter: "location")
    #expect(location.coordinate == Coordinate(latitude: 52.5, longitude: 13.25))
    #expect(location.accuracy == 8)
    #expect(location.altitude == 34.5)
    #expect(location.speed == 1.5)
    #expect(location.course == 270)
    #expect(location.time == WallTime(nanoseconds: 1_795_536_000_500_000_000))
    #expect(Wire.Location(location) == Self.wire)
  }

  @Test("A value that the source does not know is null in the interface")
  func unknownValues() throws {
    #expect(Wire.Location(try Location(Self.bare, parameter: "location")) == Self.bare)
  }

  /// Returns the parameter that the error about a changed location names; nil without an error.
  private func parameter(_ change: (inout Wire.Location) -> Void) -> String? {
    var location = Self.wire
    change(&location)
    do throws(ParameterError) {
      _ = try Location(location, parameter: "location")
      return nil
    } catch {
      return error.parameter
    }
  }

  @Test("An invalid value of a location gets an error that names the field")
  func invalidLocation() {
    for latitude in [-90.1, 91, .nan, .infinity] {
      #expect(parameter { $0.latitude = latitude } == "location.latitude", "\(latitude)")
    }
    for longitude in [-180.1, 181, .nan, -.infinity] {
      #expect(parameter { $0.longitude = longitude } == "location.longitude", "\(longitude)")
    }
    for accuracy in [-1, 0, Double.nan] {
      #expect(parameter { $0.accuracy = accuracy } == "location.accuracy", "\(accuracy)")
    }
    #expect(parameter { $0.speed = -0.1 } == "location.speed")
    for course in [-0.1, 360, 1e300] {
      #expect(parameter { $0.course = course } == "location.course", "\(course)")
    }
    for time in [-1, Int.min, Int.max, 9_223_372_036_854_776] {
      #expect(parameter { $0.measuredAtUSec = time } == "location.measuredAtUSec", "\(time)")
    }
  }

  @Test("The bounds of each value are valid")
  func bounds() {
    for (latitude, longitude) in [(-90.0, -180.0), (90, 180)] {
      #expect(
        parameter {
          $0.latitude = latitude
          $0.longitude = longitude
        } == nil)
    }
    #expect(
      parameter {
        $0.accuracy = 0.001
        $0.altitude = -400
        $0.speed = 0
        $0.course = 0
        $0.measuredAtUSec = 9_223_372_036_854_775
      } == nil)
    #expect(parameter { $0.course = 359.999 } == nil)
  }

  // MARK: Requests

  @Test("Updates without parameters have the best accuracy and no distance")
  func defaultRequest() throws {
    let request = try LocationRequest(Wire.StartUpdatingLocation.Input())
    #expect(request == LocationRequest(desiredAccuracy: .best, distanceFilter: nil))
  }

  @Test("Updates have the accuracy and the distance of the call", arguments: [0, 25.5])
  func request(distance: Double) throws {
    let request = try LocationRequest(
      Wire.StartUpdatingLocation.Input(desiredAccuracy: .kilometer, distanceFilter: distance))
    #expect(request == LocationRequest(desiredAccuracy: .kilometer, distanceFilter: distance))
  }

  @Test("A negative distance gets an error that names it")
  func negativeDistance() {
    let error = #expect(throws: ParameterError.self) {
      try LocationRequest(Wire.StartUpdatingLocation.Input(distanceFilter: -1))
    }
    #expect(error?.parameter == "distanceFilter")
  }

  @Test("A region has the same values in the scheduler and in the interface")
  func region() throws {
    let region = try Region(Self.region, parameter: "region")
    #expect(region.id == RegionID("home"))
    #expect(region.center == Coordinate(latitude: 52.5, longitude: 13.25))
    #expect(region.radius == 150)
    #expect(region.notifiesOnEntry && region.notifiesOnExit, "null means true")
    var full = Self.region
    full.notifyOnEntry = false
    full.notifyOnExit = true
    #expect(Wire.Region(try Region(full, parameter: "region")) == full)
    let known = StoredLocationServices.MonitoredRegion(
      try Region(full, parameter: "region"), isInside: true)
    #expect(Wire.MonitoredRegion(known) == .init(region: full, inside: true))
  }

  @Test("An invalid value of a region gets an error that names the field")
  func invalidRegion() {
    func parameter(_ change: (inout Wire.Region) -> Void) -> String? {
      var region = Self.region
      change(&region)
      do throws(ParameterError) {
        _ = try Region(region, parameter: "region")
        return nil
      } catch {
        return error.parameter
      }
    }
    let long = String(repeating: "x", count: RegionID.bytesMax)
    for identifier in ["", long + "x", "a\nb", "a\u{7F}", "\u{85}"] {
      #expect(
        parameter { $0.identifier = identifier } == "region.identifier",
        "\(identifier.debugDescription)")
    }
    for identifier in ["a", long, "Zürich", "Home, sweet home"] {
      #expect(parameter { $0.identifier = identifier } == nil, "\(identifier)")
    }
    #expect(parameter { $0.latitude = 90.1 } == "region.latitude")
    #expect(parameter { $0.longitude = -180.1 } == "region.longitude")
    for radius in [-100, 0, 99.9, 100_000.1, .nan, .infinity] {
      #expect(parameter { $0.radius = radius } == "region.radius", "\(radius)")
    }
    for radius in [100, 100_000.0] {
      #expect(parameter { $0.radius = radius } == nil, "\(radius)")
    }
  }

  // MARK: Replies, events and errors

  @Test("Each value of the scheduler has the same name in the interface")
  func names() {
    for value in LocationAuthorization.allCases {
      let wire = Wire.LocationAuthorization(value)
      #expect(wire.rawValue == value.rawValue)
      #expect(LocationAuthorization(wire) == value)
    }
    for value in LocationAccuracy.allCases {
      let wire = Wire.LocationAccuracy(value)
      #expect(wire.rawValue == value.rawValue)
      #expect(LocationAccuracy(wire) == value)
    }
    for value in LocationDenial.allCases {
      #expect(Wire.LocationDenial(value).rawValue == value.rawValue)
    }
  }

  @Test("A significant change and a crossing have their id and their location")
  func events() throws {
    let location = try Location(Self.wire, parameter: "location")
    #expect(
      Wire.SignificantLocationChange(CallbackID(7), location)
        == .init(id: 7, location: Self.wire))
    let home = try #require(RegionID("home"))
    #expect(
      Wire.RegionEvent(CallbackID(8), RegionCrossing(home, isInside: true), location)
        == .init(id: 8, identifier: "home", inside: true, location: Self.wire))
  }

  @Test("A refusal of a location service is an error of the interface")
  func refusals() throws {
    let name = "org.test.app"
    let home = try #require(RegionID("home"))
    #expect(Refusal.locationUnavailable.failure(toApplication: name) == .locationUnavailable)
    #expect(
      Refusal.locationDenied(.settings).failure(toApplication: name)
        == .locationDenied(application: name, reason: .settings))
    #expect(
      Refusal.unknownRegion(home).failure(toApplication: name)
        == .unknownRegion(identifier: "home"))
    for refusal in [Refusal.locationUnavailable, .locationDenied(.user), .unknownRegion(home)] {
      #expect(
        refusal.failure(toApplication: name).name == "org.taskschedd.Application.\(refusal.name)")
    }
  }
}

import TaskSchedulerWire
import Testing

@testable import TaskSchedulerSession

@Suite("§17: The agent's reports of locations")
struct GeoClueLocationTests {
  private typealias Location = SessionInterface.Location

  private func location(
    _ numbers: [String: Double], time: (seconds: UInt64, microseconds: UInt64)? = (2, 500_000)
  ) -> Location? {
    Location(
      geoClue: ["Latitude": 52.5, "Longitude": -13.4].merging(numbers) { $1 }, time: time, now: 77)
  }

  @Test("§17: The fields of a location are those of GeoClue")
  func fields() {
    #expect(
      location(["Accuracy": 12, "Altitude": -3, "Speed": 0, "Heading": 359.5])
        == Location(
          latitude: 52.5, longitude: -13.4, accuracy: 12, altitude: -3, speed: 0, course: 359.5,
          measuredAtUSec: 2_500_000))
  }

  @Test("§17: A field that GeoClue does not know is null; an accuracy of 0 is not known")
  func unknown() {
    let bare = Location(latitude: 52.5, longitude: -13.4, measuredAtUSec: 2_500_000)
    #expect(location([:]) == bare)
    #expect(
      location([
        "Accuracy": 0, "Altitude": -.greatestFiniteMagnitude, "Speed": -1, "Heading": -1,
      ]) == bare)
    #expect(
      location(["Accuracy": .nan, "Altitude": .nan, "Speed": .infinity, "Heading": .nan]) == bare)
    #expect(
      location([
        "Accuracy": -.infinity, "Altitude": .infinity, "Speed": .nan, "Heading": 360,
      ]) == bare)
  }

  @Test("§17: The bounds of latitude and longitude are places on the earth; values beyond are not")
  func bounds() {
    for (latitude, longitude) in [(90.0, 180.0), (-90, -180), (0, 0)] {
      #expect(location(["Latitude": latitude, "Longitude": longitude]) != nil)
    }
    for (latitude, longitude) in [
      (90.01, 0.0), (-91, 0), (0, 180.01), (0, -181), (.nan, 0), (0, .infinity),
    ] {
      #expect(location(["Latitude": latitude, "Longitude": longitude]) == nil)
    }
  }

  @Test("§17: A location without a time that the interface can express has the time of its report")
  func times() {
    let times: [(seconds: UInt64, microseconds: UInt64)?] = [
      nil, (0, 0), (.max, 0), (1, .max), (1, 1_000_000), (1 << 40, 0),
    ]
    for time in times { #expect(location([:], time: time)?.measuredAtUSec == 77) }
    #expect(location([:], time: (1_795_728_858, 7))?.measuredAtUSec == 1_795_728_858_000_007)
  }

  // MARK: Orders

  @Test("§17: The agent requests the highest accuracy that a daemon has ordered")
  func orders() {
    var orders = DaemonLocationOrders()
    #expect(orders.accuracy == nil && !orders.includes(0))
    orders.take(.init(accuracy: .kilometer), of: 0)
    orders.take(.init(accuracy: .tenMeters), of: 1)
    #expect(orders.accuracy == .tenMeters && orders.includes(0) && orders.includes(1))
    orders.take(.init(accuracy: .hundredMeters), of: 1)
    #expect(orders.accuracy == .hundredMeters)
    orders.take(.init(accuracy: nil), of: 1)
    #expect(orders.accuracy == .kilometer && !orders.includes(1))
    orders.end(of: 0)
    #expect(orders.accuracy == nil)
  }

  // MARK: Reports

  private func reported(_ latitude: Double) -> Location {
    Location(latitude: latitude, longitude: 0, measuredAtUSec: 0)
  }

  @Test("§17: A daemon learns that GeoClue is available before it receives a location")
  func order() {
    var reports = LocationReports()
    reports.add(reported(1))
    reports.update(isAvailable: true)
    let first = reports.take(), second = reports.take(), third = reports.take()
    #expect(first == .source(true))
    #expect(second == .location(reported(1)))
    #expect(third == nil)
  }

  @Test("§17: A location that was not sent is replaced by the next one; equal ones are both sent")
  func newest() {
    var reports = LocationReports()
    reports.add(reported(1))
    reports.add(reported(2))
    let first = reports.take()
    reports.add(reported(2))
    let second = reports.take(), third = reports.take()
    #expect(first == .location(reported(2)) && second == first)
    #expect(third == nil)
  }

  @Test("§17: A new attachment learns whether GeoClue is available, and no earlier location")
  func attached() {
    var reports = LocationReports()
    reports.attached()
    let nothing = reports.take()
    #expect(nothing == nil)
    reports.update(isAvailable: false)
    let first = reports.take()
    reports.update(isAvailable: true)
    reports.update(isAvailable: false)
    let unchanged = reports.take()
    reports.add(reported(1))
    reports.attached()
    let again = reports.take(), none = reports.take()
    #expect(first == .source(false) && unchanged == nil)
    #expect(again == .source(false) && none == nil)
    reports.add(reported(1))
    reports.endLocations()
    let ended = reports.take()
    #expect(ended == nil)
  }
}

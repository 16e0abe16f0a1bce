import FoundationEssentials
import Glibc
import TaskSchedulerClient

/// A place at which the driver must do something.
struct Waypoint {
  let coordinate: LocationCoordinate
  let hint: String
}

/// The waypoints, in the order in which the driver passes them.
struct Route {
  let waypoints: [Waypoint]

  var destination: LocationCoordinate { waypoints[waypoints.count - 1].coordinate }

  /// Reads a file. Returns nil if a line is not a waypoint, or if the file has no waypoints.
  init?(file: String) {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8) else { return nil }
    var waypoints: [Waypoint] = []
    for line in text.split(separator: "\n") {
      let words = line.split(separator: " ", maxSplits: 2)
      guard words.count == 3, let latitude = Double(words[0]), let longitude = Double(words[1]),
        (-90...90).contains(latitude), (-180...180).contains(longitude)
      else { return nil }
      waypoints.append(
        Waypoint(
          coordinate: LocationCoordinate(latitude: latitude, longitude: longitude),
          hint: String(words[2])))
    }
    if waypoints.isEmpty { return nil }
    self.waypoints = waypoints
  }
}

extension LocationCoordinate {
  /// Returns the distance to another place, in meters. The approximation is exact enough for
  /// distances of some kilometers.
  func distance(to other: LocationCoordinate) -> Double {
    let metersOfDegree = 111_195.0
    let north = (other.latitude - latitude) * metersOfDegree
    let scale = cos((other.latitude + latitude) / 2 * .pi / 180)
    let east = (other.longitude - longitude).remainder(dividingBy: 360) * metersOfDegree * scale
    return hypot(north, east)
  }
}

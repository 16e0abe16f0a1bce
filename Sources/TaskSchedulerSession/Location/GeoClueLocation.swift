import EventLoop
import TaskSchedulerWire

extension SessionInterface.Location {
  /// Reads the properties of a location of GeoClue. If GeoClue does not know a property, the value
  /// of the property is out of range.
  ///
  /// - Parameters:
  ///   - values: the reply to `org.freedesktop.DBus.Properties.GetAll`.
  ///   - now: the time to use if the location has none, in microseconds since 1970.
  /// - Returns: nil if the reply is malformed, or the location is no place on the earth.
  init?(geoClue values: MessageReader, now: Int64) {
    var numbers: [String: Double] = [:]
    var time: (seconds: UInt64, microseconds: UInt64)?
    let isRead = values.properties { name in
      switch name {
      case "Timestamp":
        time = values.structureInVariant("tt") {
          guard let seconds = values.unsignedNumber(), let rest = values.unsignedNumber() else {
            return nil
          }
          return (seconds, rest)
        }
        return time != nil
      case "Latitude", "Longitude", "Accuracy", "Altitude", "Speed", "Heading":
        numbers[name] = values.doubleInVariant()
        return numbers[name] != nil
      case _: return false
      }
    }
    guard isRead else { return nil }
    self.init(geoClue: numbers, time: time, now: now)
  }

  /// - Parameters:
  ///   - numbers: the properties that are numbers, by name.
  ///   - time: the property Timestamp.
  init?(
    geoClue numbers: [String: Double], time: (seconds: UInt64, microseconds: UInt64)?, now: Int64
  ) {
    guard let latitude = numbers["Latitude"], (-90...90).contains(latitude),
      let longitude = numbers["Longitude"], (-180...180).contains(longitude)
    else { return nil }
    func known(_ name: String, if isKnown: (Double) -> Bool) -> Double? {
      numbers[name].flatMap { $0.isFinite && isKnown($0) ? $0 : nil }
    }
    self.init(
      latitude: latitude, longitude: longitude,
      // The accuracy 0 means that the receiver reports no accuracy.
      accuracy: known("Accuracy") { $0 > 0 },
      altitude: known("Altitude") { $0 > -.greatestFiniteMagnitude },
      speed: known("Speed") { $0 >= 0 },
      course: known("Heading") { (0..<360).contains($0) },
      measuredAtUSec: Int(time.flatMap { Self.microseconds($0.seconds, $0.microseconds) } ?? now))
  }

  /// Returns a time in microseconds since 1970; nil if GeoClue does not know the time, or if the
  /// time is out of range.
  private static func microseconds(_ seconds: UInt64, _ rest: UInt64) -> Int64? {
    guard seconds > 0, seconds < UInt64(Int64.max) / 1_000_000_000, rest < 1_000_000 else {
      return nil
    }
    return Int64(seconds) * 1_000_000 + Int64(rest)
  }
}

// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A position of the machine, as a source measured it. A field that the source does not know is
  /// null.
  public struct Location: WireStructure {
    /// In degrees (WGS 84), from -90 to 90; positive north of the equator.
    public var latitude: Double
    /// In degrees (WGS 84), from -180 to 180; positive east of Greenwich.
    public var longitude: Double
    /// The radius, in meters, of the circle that contains the true position with a probability of
    /// 68 %.
    public var accuracy: Double?
    /// In meters above the mean sea level.
    public var altitude: Double?
    /// In meters per second.
    public var speed: Double?
    /// The direction of the motion, in degrees clockwise from north, from 0 to less than 360.
    public var course: Double?
    /// The time of the measurement, as the source's clock showed it: microseconds since 1970
    /// (CLOCK_REALTIME).
    public var measuredAtUSec: Int

    public static let fieldNames = [
      "latitude", "longitude", "accuracy", "altitude", "speed", "course", "measuredAtUSec",
    ]

    public init(
      latitude: Double, longitude: Double, accuracy: Double? = nil, altitude: Double? = nil,
      speed: Double? = nil, course: Double? = nil, measuredAtUSec: Int
    ) {
      self.latitude = latitude
      self.longitude = longitude
      self.accuracy = accuracy
      self.altitude = altitude
      self.speed = speed
      self.course = course
      self.measuredAtUSec = measuredAtUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      latitude = try fields.required("latitude")
      longitude = try fields.required("longitude")
      accuracy = try fields.optional("accuracy")
      altitude = try fields.optional("altitude")
      speed = try fields.optional("speed")
      course = try fields.optional("course")
      measuredAtUSec = try fields.required("measuredAtUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "latitude", latitude)
      object.append(field: "longitude", longitude)
      object.append(field: "accuracy", accuracy)
      object.append(field: "altitude", altitude)
      object.append(field: "speed", speed)
      object.append(field: "course", course)
      object.append(field: "measuredAtUSec", measuredAtUSec)
    }
  }
}

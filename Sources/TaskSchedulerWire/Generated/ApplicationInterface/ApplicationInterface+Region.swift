// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A circle on the earth. The application learns when the machine enters and leaves it. A
  /// location whose accuracy is worse than the radius cannot show that the machine is inside.
  public struct Region: WireStructure {
    /// Unique within the application. It has 1 to 128 bytes and no control characters.
    public var identifier: String
    /// The latitude of the center in degrees (WGS 84), from -90 to 90.
    public var latitude: Double
    /// The longitude of the center in degrees (WGS 84), from -180 to 180.
    public var longitude: Double
    /// In meters, from 100 to 100000.
    public var radius: Double
    /// Whether the application learns when the machine enters the region; null means true.
    public var notifyOnEntry: Bool?
    /// Whether the application learns when the machine leaves the region; null means true.
    public var notifyOnExit: Bool?

    public static let fieldNames = [
      "identifier", "latitude", "longitude", "radius", "notifyOnEntry", "notifyOnExit",
    ]

    public init(
      identifier: String, latitude: Double, longitude: Double, radius: Double,
      notifyOnEntry: Bool? = nil, notifyOnExit: Bool? = nil
    ) {
      self.identifier = identifier
      self.latitude = latitude
      self.longitude = longitude
      self.radius = radius
      self.notifyOnEntry = notifyOnEntry
      self.notifyOnExit = notifyOnExit
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      identifier = try fields.required("identifier")
      latitude = try fields.required("latitude")
      longitude = try fields.required("longitude")
      radius = try fields.required("radius")
      notifyOnEntry = try fields.optional("notifyOnEntry")
      notifyOnExit = try fields.optional("notifyOnExit")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "identifier", identifier)
      object.append(field: "latitude", latitude)
      object.append(field: "longitude", longitude)
      object.append(field: "radius", radius)
      object.append(field: "notifyOnEntry", notifyOnEntry)
      object.append(field: "notifyOnExit", notifyOnExit)
    }
  }
}

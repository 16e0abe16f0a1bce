// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A region that an application monitors.
  public struct RegionUse: WireStructure {
    public var region: Region
    /// Whether the machine is inside; null if the daemon does not know it yet.
    public var inside: Bool?
    /// The distance, in meters, between the center and the newest location that the daemon has for
    /// the owner of the application; null without a location.
    public var distance: Double?

    public static let fieldNames = ["region", "inside", "distance"]

    public init(region: Region, inside: Bool? = nil, distance: Double? = nil) {
      self.region = region
      self.inside = inside
      self.distance = distance
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      region = try fields.required("region")
      inside = try fields.optional("inside")
      distance = try fields.optional("distance")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "region", region)
      object.append(field: "inside", inside)
      object.append(field: "distance", distance)
    }
  }
}

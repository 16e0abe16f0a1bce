// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A region that the application monitors.
  public struct MonitoredRegion: WireStructure {
    public var region: Region
    /// Whether the machine is inside the region; null if the daemon does not know yet.
    public var inside: Bool?

    public static let fieldNames = ["region", "inside"]

    public init(region: Region, inside: Bool? = nil) {
      self.region = region
      self.inside = inside
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      region = try fields.required("region")
      inside = try fields.optional("inside")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "region", region)
      object.append(field: "inside", inside)
    }
  }
}

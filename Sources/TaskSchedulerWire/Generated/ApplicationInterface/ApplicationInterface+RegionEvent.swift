// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The machine has entered or left a region. The application receives each crossing once. It runs
  /// for EventTime (10 s by default), or longer with a background task. If the application
  /// acknowledges the event by `id`, the daemon can suspend the application earlier.
  public struct RegionEvent: WireStructure {
    public var id: Int
    /// The identifier of the region.
    public var identifier: String
    /// True when the machine has entered the region, false when it has left it.
    public var inside: Bool
    /// The location that shows the crossing.
    public var location: Location

    public static let fieldNames = ["id", "identifier", "inside", "location"]

    public init(id: Int, identifier: String, inside: Bool, location: Location) {
      self.id = id
      self.identifier = identifier
      self.inside = inside
      self.location = location
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      identifier = try fields.required("identifier")
      inside = try fields.required("inside")
      location = try fields.required("location")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "identifier", identifier)
      object.append(field: "inside", inside)
      object.append(field: "location", location)
    }
  }
}

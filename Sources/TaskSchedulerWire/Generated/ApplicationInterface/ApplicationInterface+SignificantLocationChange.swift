// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The machine has moved by 500 m or more, or this is the first location after the start of the
  /// service. The application receives at most one change in 5 minutes. If several changes happen
  /// while the application cannot run, it receives only the last one. It runs for EventTime (10 s
  /// by default), or longer with a background task. If the application acknowledges the event by
  /// `id`, the daemon can suspend the application earlier.
  public struct SignificantLocationChange: WireStructure {
    public var id: Int
    public var location: Location

    public static let fieldNames = ["id", "location"]

    public init(id: Int, location: Location) {
      self.id = id
      self.location = location
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      location = try fields.required("location")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "location", location)
    }
  }
}

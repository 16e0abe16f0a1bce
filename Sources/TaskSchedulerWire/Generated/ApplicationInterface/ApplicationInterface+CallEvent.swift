// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The application's phone call is on hold because of a newer call, or is no longer on hold. The
  /// application runs for EventTime (10 s by default). If the application acknowledges the event by
  /// `id`, the daemon can suspend the application earlier.
  public struct CallEvent: WireStructure {
    public var id: Int
    public var onHold: Bool

    public static let fieldNames = ["id", "onHold"]

    public init(id: Int, onHold: Bool) {
      self.id = id
      self.onHold = onHold
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      onHold = try fields.required("onHold")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "onHold", onHold)
    }
  }
}

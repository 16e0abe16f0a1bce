// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The managed sockets that became ready while the application was suspended, or that the daemon
  /// cannot monitor any more. The application runs for EventTime (10 s by default), or longer with
  /// a background task. If the application acknowledges the event by `id`, the daemon can suspend
  /// the application earlier.
  public struct SocketEvent: WireStructure {
    public var id: Int
    public var sockets: [SocketReadiness]

    public static let fieldNames = ["id", "sockets"]

    public init(id: Int, sockets: [SocketReadiness]) {
      self.id = id
      self.sockets = sockets
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      sockets = try fields.required("sockets")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "sockets", sockets)
    }
  }
}

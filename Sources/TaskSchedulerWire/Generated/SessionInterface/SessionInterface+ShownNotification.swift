// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// The identity of a notification in the notification service that shows it.
  public struct ShownNotification: WireStructure {
    /// The id that the notification service returned from Notify.
    public var id: Int
    /// An identity of the running notification service. It is unique across restarts of the service
    /// and of the session bus. At most 512 bytes.
    public var service: String

    public static let fieldNames = ["id", "service"]

    public init(id: Int, service: String) {
      self.id = id
      self.service = service
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      service = try fields.required("service")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "service", service)
    }
  }
}

// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// An action that the user can choose on a notification.
  public struct NotificationAction: WireStructure {
    public var id: String
    public var title: String

    public static let fieldNames = ["id", "title"]

    public init(id: String, title: String) {
      self.id = id
      self.title = title
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      title = try fields.required("title")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "title", title)
    }
  }
}

// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A notification and its application.
  public struct ApplicationNotification: WireStructure {
    public var application: String
    public var owner: Int
    public var notification: Notification

    public static let fieldNames = ["application", "owner", "notification"]

    public init(application: String, owner: Int, notification: Notification) {
      self.application = application
      self.owner = owner
      self.notification = notification
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      application = try fields.required("application")
      owner = try fields.required("owner")
      notification = try fields.required("notification")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "application", application)
      object.append(field: "owner", owner)
      object.append(field: "notification", notification)
    }
  }
}

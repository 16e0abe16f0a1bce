// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A notification that the application must handle. If `chosen` is true, the user chose the
  /// notification. Otherwise the notification fired while the application was active.
  public struct NotificationEvent: WireStructure {
    public var notification: Notification
    public var chosen: Bool

    public static let fieldNames = ["notification", "chosen"]

    public init(notification: Notification, chosen: Bool) {
      self.notification = notification
      self.chosen = chosen
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      notification = try fields.required("notification")
      chosen = try fields.required("chosen")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "notification", notification)
      object.append(field: "chosen", chosen)
    }
  }
}

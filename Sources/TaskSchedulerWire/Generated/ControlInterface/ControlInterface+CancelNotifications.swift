// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Cancels the notification `notification`, or all notifications of `application`. The call must
  /// set at least one of them. The application need not be known to the daemon any more.
  public enum CancelNotifications: InterfaceMethod {
    public static let name = "org.taskschedd.Control.CancelNotifications"

    public struct Input: WireStructure {
      public var application: String?
      public var owner: Int?
      public var notification: Int?

      public static let fieldNames = ["application", "owner", "notification"]

      public init(application: String? = nil, owner: Int? = nil, notification: Int? = nil) {
        self.application = application
        self.owner = owner
        self.notification = notification
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.optional("application")
        owner = try fields.optional("owner")
        notification = try fields.optional("notification")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "notification", notification)
      }
    }

    public struct Output: WireStructure {
      public var cancelled: [Int]

      public static let fieldNames = ["cancelled"]

      public init(cancelled: [Int]) {
        self.cancelled = cancelled
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        cancelled = try fields.required("cancelled")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "cancelled", cancelled)
      }
    }
  }
}

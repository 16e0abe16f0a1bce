// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Lists the notifications of an application or, if `application` is null, of all applications
  /// that the caller may see. The order is that of the ids, in pages. A page begins after the id
  /// `after`. `next` is the `after` of the next page, and null in the last page. A page has at most
  /// 256 notifications and at most 256 KiB of texts, or one notification.
  ///
  /// An application may have notifications although the daemon knows it no longer.
  public enum ListNotifications: InterfaceMethod {
    public static let name = "org.taskschedd.Control.ListNotifications"

    public struct Input: WireStructure {
      public var application: String?
      public var owner: Int?
      public var after: Int?

      public static let fieldNames = ["application", "owner", "after"]

      public init(application: String? = nil, owner: Int? = nil, after: Int? = nil) {
        self.application = application
        self.owner = owner
        self.after = after
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.optional("application")
        owner = try fields.optional("owner")
        after = try fields.optional("after")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
        object.append(field: "after", after)
      }
    }

    public struct Output: WireStructure {
      public var notifications: [ApplicationNotification]
      public var next: Int?

      public static let fieldNames = ["notifications", "next"]

      public init(notifications: [ApplicationNotification], next: Int? = nil) {
        self.notifications = notifications
        self.next = next
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        notifications = try fields.required("notifications")
        next = try fields.optional("next")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "notifications", notifications)
        object.append(field: "next", next)
      }
    }
  }
}

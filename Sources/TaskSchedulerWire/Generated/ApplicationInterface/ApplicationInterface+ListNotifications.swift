// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Lists the application's notifications in the order of their ids, in pages. A page begins after
  /// the id `after`. `next` is the `after` of the next page, and null in the last page. A page has
  /// at most 256 notifications and at most 256 KiB of texts, or one notification.
  ///
  /// The daemon keeps the latest 128 notifications that were presented and do not fire again.
  public enum ListNotifications: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ListNotifications"

    public struct Input: WireStructure {
      public var after: Int?

      public static let fieldNames = ["after"]

      public init(after: Int? = nil) {
        self.after = after
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        after = try fields.optional("after")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "after", after)
      }
    }

    public struct Output: WireStructure {
      public var notifications: [Notification]
      public var next: Int?

      public static let fieldNames = ["notifications", "next"]

      public init(notifications: [Notification], next: Int? = nil) {
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

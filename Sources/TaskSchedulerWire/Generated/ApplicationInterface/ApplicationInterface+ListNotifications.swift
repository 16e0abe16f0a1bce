// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A page of the application's notifications, by id, beginning after the id `after`. `next` is
  /// what `after` must be for the next page; null in the last page. A page has at most 256
  /// notifications, and at most 256 KiB of their texts unless it has one notification only. Of
  /// those that were shown and fire no more the latest 128 are kept.
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

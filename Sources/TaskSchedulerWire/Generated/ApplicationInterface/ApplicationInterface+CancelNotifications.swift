// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Cancels a notification or, if `notification` is null, all notifications of the application.
  /// The daemon also closes those that are shown. `cancelled` lists their ids.
  public enum CancelNotifications: InterfaceMethod {
    public static let name = "org.taskschedd.Application.CancelNotifications"

    public struct Input: WireStructure {
      public var notification: Int?

      public static let fieldNames = ["notification"]

      public init(notification: Int? = nil) {
        self.notification = notification
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        notification = try fields.optional("notification")
      }

      public func writeFields(to object: inout [UInt8]) {
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

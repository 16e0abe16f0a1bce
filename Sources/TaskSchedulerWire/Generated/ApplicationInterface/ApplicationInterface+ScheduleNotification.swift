// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Schedules a local notification, or presents it now. It is stored durably before the reply, and
  /// kept until it was shown or is cancelled. QuotaExceeded names MaxNotificationsPerApplication
  /// where so many of the application wait for their time, and MaxNotificationsPerUser where so
  /// many of all applications of the user wait for their time or to be shown: cancel some, or call
  /// again when some have fired or were shown.
  public enum ScheduleNotification: InterfaceMethod {
    public static let name = "org.taskschedd.Application.ScheduleNotification"

    public struct Input: WireStructure {
      public var content: NotificationContent
      public var schedule: NotificationSchedule?

      public static let fieldNames = ["content", "schedule"]

      public init(content: NotificationContent, schedule: NotificationSchedule? = nil) {
        self.content = content
        self.schedule = schedule
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        content = try fields.required("content")
        schedule = try fields.optional("schedule")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "content", content)
        object.append(field: "schedule", schedule)
      }
    }

    public struct Output: WireStructure {
      public var notification: Int

      public static let fieldNames = ["notification"]

      public init(notification: Int) {
        self.notification = notification
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        notification = try fields.required("notification")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "notification", notification)
      }
    }
  }
}

// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// Schedules a local notification, or presents it now if `schedule` is null. The daemon stores
  /// the notification durably before it replies, and keeps it until it was shown or cancelled.
  ///
  /// The error QuotaExceeded names the quota that is used up. MaxNotificationsPerApplication limits
  /// the scheduled notifications of an application. MaxNotificationsPerUser limits the scheduled
  /// and fired notifications of all applications of a user.
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

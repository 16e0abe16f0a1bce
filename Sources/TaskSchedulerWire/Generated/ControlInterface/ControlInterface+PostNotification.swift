// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// Schedules a notification of an application, or presents it now if `schedule` is null. The
  /// application itself uses org.taskschedd.Application.ScheduleNotification.
  public enum PostNotification: InterfaceMethod {
    public static let name = "org.taskschedd.Control.PostNotification"

    public struct Input: WireStructure {
      public var application: String
      public var owner: Int?
      public var content: NotificationContent
      public var schedule: NotificationSchedule?

      public static let fieldNames = ["application", "owner", "content", "schedule"]

      public init(
        application: String, owner: Int? = nil, content: NotificationContent,
        schedule: NotificationSchedule? = nil
      ) {
        self.application = application
        self.owner = owner
        self.content = content
        self.schedule = schedule
      }

      public init(_ fields: FieldReader) throws(ParameterError) {
        application = try fields.required("application")
        owner = try fields.optional("owner")
        content = try fields.required("content")
        schedule = try fields.optional("schedule")
      }

      public func writeFields(to object: inout [UInt8]) {
        object.append(field: "application", application)
        object.append(field: "owner", owner)
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

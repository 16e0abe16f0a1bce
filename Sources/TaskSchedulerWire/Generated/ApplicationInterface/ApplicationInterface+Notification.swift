// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A local notification.
  public struct Notification: WireStructure {
    public var id: Int
    public var content: NotificationContent
    /// null for a notification that was presented at once.
    public var schedule: NotificationSchedule?
    public var state: NotificationState
    /// The time of the next firing or, if there is none, of the last firing: microseconds since
    /// 1970 (CLOCK_REALTIME).
    public var firesAtUSec: Int

    public static let fieldNames = ["id", "content", "schedule", "state", "firesAtUSec"]

    public init(
      id: Int, content: NotificationContent, schedule: NotificationSchedule? = nil,
      state: NotificationState, firesAtUSec: Int
    ) {
      self.id = id
      self.content = content
      self.schedule = schedule
      self.state = state
      self.firesAtUSec = firesAtUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      content = try fields.required("content")
      schedule = try fields.optional("schedule")
      state = try fields.required("state")
      firesAtUSec = try fields.required("firesAtUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "content", content)
      object.append(field: "schedule", schedule)
      object.append(field: "state", state)
      object.append(field: "firesAtUSec", firesAtUSec)
    }
  }
}

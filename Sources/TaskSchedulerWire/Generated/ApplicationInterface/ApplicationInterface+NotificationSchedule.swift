// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// The time at which a notification fires.
  public struct NotificationSchedule: WireStructure {
    /// The wall-clock time in the time zone: YYYY-MM-DDTHH:MM:SS.
    public var date: String
    /// A time zone of the tz database, such as Europe/Berlin.
    public var timeZone: String
    /// null means that the notification fires once.
    public var repeats: RepeatInterval?

    public static let fieldNames = ["date", "timeZone", "repeats"]

    public init(date: String, timeZone: String, repeats: RepeatInterval? = nil) {
      self.date = date
      self.timeZone = timeZone
      self.repeats = repeats
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      date = try fields.required("date")
      timeZone = try fields.required("timeZone")
      repeats = try fields.optional("repeats")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "date", date)
      object.append(field: "timeZone", timeZone)
      object.append(field: "repeats", repeats)
    }
  }
}

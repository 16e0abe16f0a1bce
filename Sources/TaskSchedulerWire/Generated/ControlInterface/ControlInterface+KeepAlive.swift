// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The keep-alive handler of an instance.
  public struct KeepAlive: WireStructure {
    public var intervalUSec: Int
    /// The time of the last call; null before the first call.
    public var lastRunUSec: Int?
    /// The latest permitted time of the next call.
    public var deadlineUSec: Int
    /// The planned time of the next call. The daemon calls the handlers of several applications
    /// together.
    public var plannedUSec: Int

    public static let fieldNames = ["intervalUSec", "lastRunUSec", "deadlineUSec", "plannedUSec"]

    public init(intervalUSec: Int, lastRunUSec: Int? = nil, deadlineUSec: Int, plannedUSec: Int) {
      self.intervalUSec = intervalUSec
      self.lastRunUSec = lastRunUSec
      self.deadlineUSec = deadlineUSec
      self.plannedUSec = plannedUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      intervalUSec = try fields.required("intervalUSec")
      lastRunUSec = try fields.optional("lastRunUSec")
      deadlineUSec = try fields.required("deadlineUSec")
      plannedUSec = try fields.required("plannedUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "intervalUSec", intervalUSec)
      object.append(field: "lastRunUSec", lastRunUSec)
      object.append(field: "deadlineUSec", deadlineUSec)
      object.append(field: "plannedUSec", plannedUSec)
    }
  }
}

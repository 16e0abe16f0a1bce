// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A record of the log.
  public struct LogRecord: WireStructure {
    /// Later records have higher numbers.
    public var number: Int
    public var atUSec: Int
    /// error, warning, notice, info or debug.
    public var level: String
    public var application: String
    public var owner: Int
    public var pid: Int?
    public var message: String

    public static let fieldNames = [
      "number", "atUSec", "level", "application", "owner", "pid", "message",
    ]

    public init(
      number: Int, atUSec: Int, level: String, application: String, owner: Int, pid: Int? = nil,
      message: String
    ) {
      self.number = number
      self.atUSec = atUSec
      self.level = level
      self.application = application
      self.owner = owner
      self.pid = pid
      self.message = message
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      number = try fields.required("number")
      atUSec = try fields.required("atUSec")
      level = try fields.required("level")
      application = try fields.required("application")
      owner = try fields.required("owner")
      pid = try fields.optional("pid")
      message = try fields.required("message")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "number", number)
      object.append(field: "atUSec", atUSec)
      object.append(field: "level", level)
      object.append(field: "application", application)
      object.append(field: "owner", owner)
      object.append(field: "pid", pid)
      object.append(field: "message", message)
    }
  }
}

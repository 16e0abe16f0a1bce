// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A media player on the session bus: a process that owns a name org.mpris.MediaPlayer2.NAME.
  public struct Player: WireStructure {
    /// The well-known name. At most 255 bytes.
    public var name: String
    /// The process that owns the name, as the bus reports it.
    public var pid: Int
    /// The start time of the process in clock ticks since boot: field 22 of /proc/PID/stat. If the
    /// process has another start time, the daemon ignores the player.
    public var startTime: Int

    public static let fieldNames = ["name", "pid", "startTime"]

    public init(name: String, pid: Int, startTime: Int) {
      self.name = name
      self.pid = pid
      self.startTime = startTime
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      name = try fields.required("name")
      pid = try fields.required("pid")
      startTime = try fields.required("startTime")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "name", name)
      object.append(field: "pid", pid)
      object.append(field: "startTime", startTime)
    }
  }
}

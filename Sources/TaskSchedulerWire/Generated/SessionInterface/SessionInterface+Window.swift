// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A window of the session.
  public struct Window: WireStructure {
    /// The process that the window belongs to, according to the credentials of the window's
    /// connection to the compositor or X server.
    public var pid: Int
    /// The start time of the process in clock ticks since boot: field 22 of /proc/PID/stat. If the
    /// process has another start time, the daemon ignores the window.
    public var startTime: Int
    public var visibility: Visibility
    /// The app id of Wayland or the class of X11. At most 256 bytes. A daemon adopts only programs
    /// with an app id.
    public var applicationId: String?

    public static let fieldNames = ["pid", "startTime", "visibility", "applicationId"]

    public init(pid: Int, startTime: Int, visibility: Visibility, applicationId: String? = nil) {
      self.pid = pid
      self.startTime = startTime
      self.visibility = visibility
      self.applicationId = applicationId
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      pid = try fields.required("pid")
      startTime = try fields.required("startTime")
      visibility = try fields.required("visibility")
      applicationId = try fields.optional("applicationId")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "pid", pid)
      object.append(field: "startTime", startTime)
      object.append(field: "visibility", visibility)
      object.append(field: "applicationId", applicationId)
    }
  }
}

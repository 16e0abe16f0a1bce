// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// An application that the daemon would have terminated next under memory pressure.
  public struct MemoryRival: WireStructure {
    public var application: String
    public var owner: Int
    /// The memory that its end would free, in bytes: private dirty and swapped.
    public var dirty: Int
    /// True if the daemon could not read the exact number and estimated it from /proc/PID/statm.
    public var estimate: Bool

    public static let fieldNames = ["application", "owner", "dirty", "estimate"]

    public init(application: String, owner: Int, dirty: Int, estimate: Bool) {
      self.application = application
      self.owner = owner
      self.dirty = dirty
      self.estimate = estimate
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      application = try fields.required("application")
      owner = try fields.required("owner")
      dirty = try fields.required("dirty")
      estimate = try fields.required("estimate")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "application", application)
      object.append(field: "owner", owner)
      object.append(field: "dirty", dirty)
      object.append(field: "estimate", estimate)
    }
  }
}

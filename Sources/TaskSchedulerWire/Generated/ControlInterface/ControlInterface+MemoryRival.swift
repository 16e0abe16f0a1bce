// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// One that would have been ended for memory next.
  public struct MemoryRival: WireStructure {
    public var application: String
    public var owner: Int
    public var dirty: Int
    /// True where it could not be read in full, and is what statm tells.
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

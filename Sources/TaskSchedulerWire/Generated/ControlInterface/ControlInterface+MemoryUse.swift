// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The memory use of an application, in bytes.
  public struct MemoryUse: WireStructure {
    public var application: String
    public var owner: Int
    public var state: State
    /// The memory that its end would free: private dirty and swapped.
    public var dirty: Int
    /// The resident memory. If several processes share a page, each of them accounts for an equal
    /// part of it.
    public var total: Int
    /// True if the daemon could not read the exact numbers and estimated them from /proc/PID/statm.
    public var estimate: Bool
    /// The position in the order of terminations, from 1; null in the foreground, where the daemon
    /// never terminates an application to free memory.
    public var position: Int?

    public static let fieldNames = [
      "application", "owner", "state", "dirty", "total", "estimate", "position",
    ]

    public init(
      application: String, owner: Int, state: State, dirty: Int, total: Int, estimate: Bool,
      position: Int? = nil
    ) {
      self.application = application
      self.owner = owner
      self.state = state
      self.dirty = dirty
      self.total = total
      self.estimate = estimate
      self.position = position
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      application = try fields.required("application")
      owner = try fields.required("owner")
      state = try fields.required("state")
      dirty = try fields.required("dirty")
      total = try fields.required("total")
      estimate = try fields.required("estimate")
      position = try fields.optional("position")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "application", application)
      object.append(field: "owner", owner)
      object.append(field: "state", state)
      object.append(field: "dirty", dirty)
      object.append(field: "total", total)
      object.append(field: "estimate", estimate)
      object.append(field: "position", position)
    }
  }
}

// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// How much memory an application uses, in bytes.
  public struct MemoryUse: WireStructure {
    public var application: String
    public var owner: Int
    public var state: State
    /// What its end would give back: private dirty and swapped.
    public var dirty: Int
    /// All that is resident, with its share of what is shared.
    public var total: Int
    /// True where it could not be read in full, and is what statm tells.
    public var estimate: Bool
    /// Place in the order of terminations: 1 is next; null never is, in the foreground.
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

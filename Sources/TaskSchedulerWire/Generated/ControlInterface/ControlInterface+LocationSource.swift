// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A source of locations, or a source that reports only that the machine has moved.
  public struct LocationSource: WireStructure {
    /// gpsd, GeoClue, modem (the radio cell of a modem) or access point (the access point of the
    /// wireless network).
    public var name: String
    /// The user whose session agent reports the source. Only the applications of this user receive
    /// the locations of the source. null for a source that serves all users, and for GeoClue if no
    /// session agent is attached.
    public var owner: Int?
    public var available: Bool
    /// What is missing, as a clause; null if the source is available, or if nothing more is known.
    public var problem: String?

    public static let fieldNames = ["name", "owner", "available", "problem"]

    public init(name: String, owner: Int? = nil, available: Bool, problem: String? = nil) {
      self.name = name
      self.owner = owner
      self.available = available
      self.problem = problem
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      name = try fields.required("name")
      owner = try fields.optional("owner")
      available = try fields.required("available")
      problem = try fields.optional("problem")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "name", name)
      object.append(field: "owner", owner)
      object.append(field: "available", available)
      object.append(field: "problem", problem)
    }
  }
}

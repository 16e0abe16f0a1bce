// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A running audio server.
  public struct AudioServer: WireStructure {
    /// The path to which the server's socket is bound. At most 108 bytes.
    public var path: String
    /// A number that is different after each start of the server.
    public var generation: Int
    /// True if the server itself lowers, mutes or pauses streams by their media roles: PulseAudio
    /// with module-role-ducking, or PipeWire with WirePlumber's role-based policy. The daemon then
    /// leaves this to the server. If PulseAudio has only module-role-cork, the field is false.
    public var managesRoles: Bool

    public static let fieldNames = ["path", "generation", "managesRoles"]

    public init(path: String, generation: Int, managesRoles: Bool) {
      self.path = path
      self.generation = generation
      self.managesRoles = managesRoles
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      path = try fields.required("path")
      generation = try fields.required("generation")
      managesRoles = try fields.required("managesRoles")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "path", path)
      object.append(field: "generation", generation)
      object.append(field: "managesRoles", managesRoles)
    }
  }
}

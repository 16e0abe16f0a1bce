// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A running audio server.
  public struct AudioServer: WireStructure {
    /// The path to which the server's socket is bound. At most 108 bytes.
    public var path: String
    /// A number that is different after each start of the server.
    public var generation: Int

    public static let fieldNames = ["path", "generation"]

    public init(path: String, generation: Int) {
      self.path = path
      self.generation = generation
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      path = try fields.required("path")
      generation = try fields.required("generation")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "path", path)
      object.append(field: "generation", generation)
    }
  }
}

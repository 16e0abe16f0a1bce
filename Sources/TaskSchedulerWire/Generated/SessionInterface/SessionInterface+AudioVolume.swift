// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// Changes of the volumes of streams. If the audio server does not run yet, the agent makes the
  /// changes when the server runs. If the server has another generation, the agent makes no change.
  /// It also ignores streams that have ended.
  public struct AudioVolume: WireStructure {
    public var generation: Int
    public var changes: [VolumeChange]

    public static let fieldNames = ["generation", "changes"]

    public init(generation: Int, changes: [VolumeChange]) {
      self.generation = generation
      self.changes = changes
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      generation = try fields.required("generation")
      changes = try fields.required("changes")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "generation", generation)
      object.append(field: "changes", changes)
    }
  }
}

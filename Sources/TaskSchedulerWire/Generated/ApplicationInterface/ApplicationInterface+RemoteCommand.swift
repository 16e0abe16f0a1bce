// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A command that the user gave, for example by a media key. An application with the mode audio
  /// receives the commands when it was audible last, unless it is a media player on the session bus
  /// itself. The application runs for EventTime (10 s by default), or longer while it plays. If it
  /// acknowledges the command by its id, it runs for AudioGraceTime (5 s by default) from then on,
  /// in which the audio server must report what it plays.
  public struct RemoteCommand: WireStructure {
    public var id: Int
    public var kind: RemoteCommandKind
    /// Set only with seek: the time by which to move the position, negative to move backwards.
    public var offsetUSec: Int?

    public static let fieldNames = ["id", "kind", "offsetUSec"]

    public init(id: Int, kind: RemoteCommandKind, offsetUSec: Int? = nil) {
      self.id = id
      self.kind = kind
      self.offsetUSec = offsetUSec
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      id = try fields.required("id")
      kind = try fields.required("kind")
      offsetUSec = try fields.optional("offsetUSec")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "id", id)
      object.append(field: "kind", kind)
      object.append(field: "offsetUSec", offsetUSec)
    }
  }
}

// Generated from org.taskschedd.Application.varlink by 'make interfaces'; not to be edited.

extension ApplicationInterface {
  /// A command that the user gave, for example by a media key. The receiver has the mode audio, and
  /// is not a media player on the session bus. If several such applications have been audible, the
  /// receiver is the one that was audible last. It runs for EventTime (10 s by default), or longer
  /// while it plays. After it has acknowledged the command by `id`, it runs for AudioGraceTime (5 s
  /// by default). Within this time, the audio server must report that the application plays;
  /// otherwise the daemon can suspend the application.
  public struct RemoteCommand: WireStructure {
    public var id: Int
    public var kind: RemoteCommandKind
    /// Set only with seek: how far to move the playback position. A negative value moves it
    /// backwards.
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

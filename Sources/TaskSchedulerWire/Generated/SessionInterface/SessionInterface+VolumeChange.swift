// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// A change of the volume of a playback stream. The agent sets the volume of the loudest channel
  /// to `to` and keeps the balance of the channels, but only if the volume is `from`, give or take
  /// 64.
  public struct VolumeChange: WireStructure {
    public var stream: Int
    public var from: Int
    public var to: Int

    public static let fieldNames = ["stream", "from", "to"]

    public init(stream: Int, from: Int, to: Int) {
      self.stream = stream
      self.from = from
      self.to = to
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      stream = try fields.required("stream")
      from = try fields.required("from")
      to = try fields.required("to")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "stream", stream)
      object.append(field: "from", from)
      object.append(field: "to", to)
    }
  }
}

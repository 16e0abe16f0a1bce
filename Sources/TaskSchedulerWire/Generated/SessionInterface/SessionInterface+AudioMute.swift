// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// Streams that the agent must mute, or whose mute the agent must end. If the audio server does
  /// not run yet, the agent carries out the order when the server runs. If the server has another
  /// generation, the agent ignores the order. It also ignores streams that have ended.
  public struct AudioMute: WireStructure {
    public var generation: Int
    public var streams: [Int]
    public var muted: Bool

    public static let fieldNames = ["generation", "streams", "muted"]

    public init(generation: Int, streams: [Int], muted: Bool) {
      self.generation = generation
      self.streams = streams
      self.muted = muted
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      generation = try fields.required("generation")
      streams = try fields.required("streams")
      muted = try fields.required("muted")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "generation", generation)
      object.append(field: "streams", streams)
      object.append(field: "muted", muted)
    }
  }
}

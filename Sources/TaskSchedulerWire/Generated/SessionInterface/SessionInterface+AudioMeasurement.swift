// Generated from org.taskschedd.Session.varlink by 'make interfaces'; not to be edited.

extension SessionInterface {
  /// An order to begin or to stop measuring playback streams. The agent measures such a stream once
  /// a second. When an agent attaches, it measures no stream.
  public struct AudioMeasurement: WireStructure {
    public var generation: Int
    public var streams: [Int]
    public var measured: Bool

    public static let fieldNames = ["generation", "streams", "measured"]

    public init(generation: Int, streams: [Int], measured: Bool) {
      self.generation = generation
      self.streams = streams
      self.measured = measured
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      generation = try fields.required("generation")
      streams = try fields.required("streams")
      measured = try fields.required("measured")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "generation", generation)
      object.append(field: "streams", streams)
      object.append(field: "measured", measured)
    }
  }
}

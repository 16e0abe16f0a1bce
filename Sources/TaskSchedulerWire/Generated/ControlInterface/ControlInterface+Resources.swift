// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The effect of the background rules on an instance.
  public struct Resources: WireStructure {
    /// One text for each priority that the daemon has lowered or could not lower.
    public var lowered: [String]
    /// The CPU limit of a throttled instance, in percent of one CPU; null if it is not throttled.
    public var throttledPercent: Int?
    /// The first ten addresses on which the instance listened when it was last suspended.
    public var listening: [String]
    /// The number of all addresses on which the instance listened when it was last suspended.
    public var listeningCount: Int
    /// True if the daemon examined all descriptors of the instance's processes at the last
    /// suspension. If false, the daemon may have missed listening sockets, and locks on shared
    /// files.
    public var descriptorsExamined: Bool

    public static let fieldNames = [
      "lowered", "throttledPercent", "listening", "listeningCount", "descriptorsExamined",
    ]

    public init(
      lowered: [String], throttledPercent: Int? = nil, listening: [String], listeningCount: Int,
      descriptorsExamined: Bool
    ) {
      self.lowered = lowered
      self.throttledPercent = throttledPercent
      self.listening = listening
      self.listeningCount = listeningCount
      self.descriptorsExamined = descriptorsExamined
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      lowered = try fields.required("lowered")
      throttledPercent = try fields.optional("throttledPercent")
      listening = try fields.required("listening")
      listeningCount = try fields.required("listeningCount")
      descriptorsExamined = try fields.required("descriptorsExamined")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "lowered", lowered)
      object.append(field: "throttledPercent", throttledPercent)
      object.append(field: "listening", listening)
      object.append(field: "listeningCount", listeningCount)
      object.append(field: "descriptorsExamined", descriptorsExamined)
    }
  }
}

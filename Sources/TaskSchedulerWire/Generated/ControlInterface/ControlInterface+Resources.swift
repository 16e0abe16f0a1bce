// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// How an instance is treated in the background, and what it was found to do there.
  public struct Resources: WireStructure {
    /// What of its processes' priorities was lowered, and what could not be, in words.
    public var lowered: [String]
    /// To how many percent of one processor it is throttled.
    public var throttledPercent: Int?
    /// The addresses that it listened on when it was last suspended: the first ten.
    public var listening: [String]
    /// How many addresses it listened on.
    public var listeningCount: Int
    /// Whether all descriptors of its processes were examined when it was last suspended. If not,
    /// locks on shared files and listening sockets may have been missed.
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

// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// A launch that nobody asks for: after an end that neither the application (exit code 0) nor a
  /// person chose, or after a launch that failed.
  public struct NextLaunch: WireStructure {
    public var atUSec: Int
    /// How long that waits after the end, or after the launch that failed.
    public var delayUSec: Int
    /// True while it also waits until memory pressure is over: the application was ended for
    /// memory.
    public var awaitsMemory: Bool

    public static let fieldNames = ["atUSec", "delayUSec", "awaitsMemory"]

    public init(atUSec: Int, delayUSec: Int, awaitsMemory: Bool) {
      self.atUSec = atUSec
      self.delayUSec = delayUSec
      self.awaitsMemory = awaitsMemory
    }

    public init(_ fields: FieldReader) throws(ParameterError) {
      atUSec = try fields.required("atUSec")
      delayUSec = try fields.required("delayUSec")
      awaitsMemory = try fields.required("awaitsMemory")
    }

    public func writeFields(to object: inout [UInt8]) {
      object.append(field: "atUSec", atUSec)
      object.append(field: "delayUSec", delayUSec)
      object.append(field: "awaitsMemory", awaitsMemory)
    }
  }
}

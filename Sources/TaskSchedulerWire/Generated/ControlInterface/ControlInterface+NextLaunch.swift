// Generated from org.taskschedd.Control.varlink by 'make interfaces'; not to be edited.

extension ControlInterface {
  /// The next automatic launch of an application. After a failed launch, the daemon relaunches an
  /// application that has the mode voip. It also relaunches such an application after each end, but
  /// not after an exit with code 0, and not after a termination by the user or an operator.
  public struct NextLaunch: WireStructure {
    public var atUSec: Int
    /// The delay after the end or after the failed launch.
    public var delayUSec: Int
    /// True if the launch also waits for the end of memory pressure, because the daemon terminated
    /// the application under memory pressure.
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
